import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { id, object, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import * as credentials from "../store/credentials.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import { device, type StoredDevice } from "./device.ts";
import type { RecordKind } from "./kind.ts";

const schema = object(
  { id: id(), name: text({ blank: false, maxLength: 190 }), identifier: text({ default: "", maxLength: 190 }) },
  { required: ["id", "name"] },
);

type Gate = TypeOf<typeof schema>;

/** A gate: where devices stand. */
export const gate: RecordKind<Reading<Gate>> = catalogueKind({
  table: "gate",
  schema,
  read: compileReader(schema),
  async afterChange(tx, { organizer }, changed) {
    const gates = new Map(changed.map(({ data }) => [data.id, data.name]));
    const devices = await credentials.touchDevicesAt<StoredDevice>(tx, organizer, [...gates.keys()]);
    await tx.publish(
      topics.credentialChanged,
      devices.map((each) => device.factOf({ organizer, ...each, gates })),
    );
  },
});

import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { gateRecord } from "@tessera/resources/records/gate";
import type { TypeOf } from "@tessera/schema/schema";
import * as credentials from "../store/credential-rows.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import { device, type StoredDevice } from "./device.ts";
import type { RecordKind } from "./kind.ts";
import type { BroughtHere } from "./recall.ts";

type Gate = TypeOf<typeof gateRecord>;

export const gate: RecordKind<Reading<Gate>> = {
  ...catalogueKind({
    table: "gate",
    schema: gateRecord,
    read: compileReader(gateRecord),
    async afterChange(tx, { organizer }, changed) {
      const gates = new Map(changed.map(({ data }) => [data.id, data.name]));
      const devices = await credentials.touchDevicesAt<StoredDevice>(tx, organizer, [...gates.keys()]);
      await tx.publish(
        topics.credentialChanged,
        devices.map((each) => device.factOf({ organizer, ...each, gates })),
      );
    },
  }),
  bring: ({ data }): BroughtHere<"gate"> => ({ data: { name: data.name } }),
};

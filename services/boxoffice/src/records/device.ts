import type { TypeOf } from "@tessera/kit/schema";
import { id, object, text } from "@tessera/kit/schema-build";
import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { notKnown, ofElement, refuseEach } from "@tessera/records/validate";
import { sentDevice } from "@tessera/resources/credential";
import { deviceProfileOf } from "@tessera/values";
import * as credentials from "../store/credentials.ts";
import { credentialKey, deviceFact, type StoredDevice } from "./credential-fact.ts";
import type { RecordKind } from "./kind.ts";
import { hashToken, TokenOwners } from "./token.ts";

/** A device without its clear token. */
interface DeviceRecord {
  readonly id: string;
  readonly tokenHash: Buffer | null;
  readonly data: StoredDevice;
  readonly document: string;
}

const token = text({
  nullable: true,
  default: null,
  trim: false,
  blank: false,
  maxLength: 1000,
  description: "Null: the device was never initialised, nothing authenticates as it.",
});

const fields = { device_id: id(), ...sentDevice.properties };

const schema = object({ token, ...fields }, { required: ["device_id"] });

function complete<D extends Pick<TypeOf<typeof schema>, "security_profile" | "software_brand">>(device: D) {
  return {
    ...device,
    security_profile: deviceProfileOf(device.security_profile),
    software_brand: device.software_brand ?? "",
  };
}

const read = compileReader(schema, { complete, omit: ["token"] });

/** Reads all there is of a device but its token. */
export const readDeviceFields = compileReader(object(fields, { required: ["device_id"] }), {
  complete,
});

/** Makes the record of a device whose token only its hash is known of; null for one without. */
export function deviceOf(tokenHash: Buffer | null, { data, document }: Reading<StoredDevice>): DeviceRecord {
  return { id: String(data.device_id), tokenHash, data, document };
}

/** A device that scans. */
export const device: RecordKind<DeviceRecord> = {
  name: "device",
  schema,
  read(data) {
    const checked = read(data);
    if (!checked.ok) return checked;
    const { token: sent, ...stored } = checked.value.data;
    const tokenHash = sent === null ? null : hashToken(sent);
    return { ok: true, value: deviceOf(tokenHash, { data: stored, document: checked.value.document }) };
  },
  keyOf: ({ id }) => id,
  idsOf: ({ data }) => [["device_id_seq", data.device_id]],
  mention({ tokenHash, data }, mentioned) {
    if (tokenHash !== null) mentioned.tokens.add(tokenHash.toString("hex"));
    if (data.gate !== null) mentioned.gates.add(data.gate);
    for (const event of data.events) mentioned.events.add(event);
  },
  async refuse(_tx, { scope, values, known }) {
    const owners = new TokenOwners(known);
    const ownerOf = ({ id }: DeviceRecord) => `${scope.organizer}/device/${id}`;
    return refuseEach(
      values,
      (value, addError) => {
        const { data } = value;
        owners.validate(value, ownerOf(value), addError);
        if (data.gate !== null && !known.gates.has(data.gate)) addError("gate", notKnown(`gate ${data.gate}`));
        for (const [index, event] of data.events.entries()) {
          if (!known.events.has(event)) addError("events", ofElement(index, notKnown("event")));
        }
      },
      (value) => owners.admit(value, ownerOf(value)),
    );
  },
  async store(tx, { scope: { organizer }, values, known }) {
    const revisions = await credentials.upsert(tx, { organizer, kind: "device", rows: values });
    const changed = values.flatMap((value) => {
      const revision = revisions.get(value.id);
      return revision === undefined ? [] : [deviceFact({ organizer, ...value, revision, gates: known.gates })];
    });
    await tx.publish(topics.credentialChanged, changed);
  },
  async remove(tx, { scope: { organizer }, keys }) {
    const removed = await credentials.remove(tx, { organizer, kind: "device", ids: keys });
    await tx.retract(
      topics.credentialChanged,
      removed.map((id) => credentialKey(organizer, "device", id)),
    );
  },
};

import { compileReader, type Rule } from "@tessera/records/read";
import type * as resources from "@tessera/resources/credential";
import { deviceRecord, deviceWithoutToken } from "@tessera/resources/records/device";
import type { TypeOf } from "@tessera/schema/schema";
import { devicePermissions, deviceProfileOf, firstIdMadeHere } from "@tessera/values";
import { drawNumber } from "../store/device-setups.ts";
import { deviceFields } from "../wire/credential-messages.ts";
import { credentialKind, tokenRule } from "./credential.ts";

function complete<D extends TypeOf<typeof deviceWithoutToken>>(device: D) {
  return {
    ...device,
    security_profile: deviceProfileOf(device.security_profile),
    software_brand: device.software_brand ?? "",
  };
}

/** Numbers made here are above the range of records of any organizer. */
const numberRule: Rule = (value) =>
  Number(value) >= firstIdMadeHere ? `Numbers of devices in records are less than ${firstIdMadeHere}.` : undefined;

export type StoredDevice = TypeOf<typeof resources.device> & { readonly device_id: number };

/** A scanning device. */
export const device = credentialKind<StoredDevice>({
  name: "device",
  noun: "device",
  absent: "device_not_found",
  schema: deviceRecord,
  readAll: compileReader(deviceRecord, {
    rules: { device_id: numberRule, token: tokenRule },
    complete,
    omit: ["token"],
  }),
  readFields: compileReader(deviceWithoutToken, { complete }),
  idOf: ({ device_id: number }) => String(number),
  numbered: { field: "device_id", draw: drawNumber },
  ...deviceFields,
  isActive: ({ revoked }) => !revoked,
  revoked: { revoked: true },
  ownPartOf: (
    { device_id: deviceId, gate, security_profile: securityProfile, software_brand: softwareBrand },
    gates,
  ) => ({
    permissions: [...devicePermissions],
    device: {
      deviceId,
      gate: gate === null ? undefined : { id: gate, name: gates.get(gate) ?? "" },
      securityProfile,
      softwareBrand,
    },
  }),
});

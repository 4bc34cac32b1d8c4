import { compileReader } from "@tessera/records/read";
import * as resources from "@tessera/resources/credential";
import { id, object, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { devicePermissions, deviceProfileOf } from "@tessera/values";
import { deviceFields } from "../wire/credentials.ts";
import { credentialKind, tokenRule } from "./credential.ts";

const token = text({
  nullable: true,
  default: null,
  trim: false,
  blank: false,
  maxLength: 1000,
  description: "Null: the device was never initialised, nothing authenticates as it.",
});

const withoutToken = object({ device_id: id(), ...resources.sentDevice.properties }, { required: ["device_id"] });

const schema = object({ token, ...withoutToken.properties }, { required: ["device_id"] });

function complete<D extends TypeOf<typeof withoutToken>>(device: D) {
  return {
    ...device,
    security_profile: deviceProfileOf(device.security_profile),
    software_brand: device.software_brand ?? "",
  };
}

/** A device as it is stored. */
export type StoredDevice = TypeOf<typeof resources.device> & { readonly device_id: number };

/** A device that scans. */
export const device = credentialKind<StoredDevice>({
  name: "device",
  noun: "device",
  absent: "device_not_found",
  schema,
  readAll: compileReader(schema, { rules: { token: tokenRule }, complete, omit: ["token"] }),
  readFields: compileReader(withoutToken, { complete }),
  idOf: ({ device_id: number }) => String(number),
  numbered: { field: "device_id", by: "device_id_seq" },
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

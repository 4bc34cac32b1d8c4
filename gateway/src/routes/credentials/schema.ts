import type { TypeOf } from "@tessera/kit/schema";
import { arrayOf, boolean, id, object, slug, text } from "@tessera/kit/schema-build";
import { record } from "../../answers.ts";
import { bodyOf } from "../../route.ts";

const name = text({ blank: false, maxLength: 190, description: "What to find it again by." });

const scope = {
  all_events: boolean({
    default: false,
    description: "Good for all events of the organizer; `events` is ignored then.",
  }),
  events: arrayOf(slug(), { default: [], maxItems: 10_000, description: "Slugs of the events that it is good for." }),
};

const permissions = arrayOf(text(), {
  default: [],
  maxItems: 1000,
  description: "Names of permissions, classic names included; `*` for all.",
});

const ofDevice = {
  gate: id({ nullable: true, default: null, description: "Id of the gate it stands at." }),
  security_profile: text({
    nullable: true,
    default: "full",
    maxLength: 190,
    description:
      "What it may do: `full`, or a profile that opens part of the interface. An unknown name counts as `pretixscan`.",
  }),
  software_brand: text({ nullable: true, default: "", maxLength: 190 }),
};

/** The body of a new API key. */
export const apiKeyBody = bodyOf(
  {
    title: "ApiKeyBody",
    ...object({ name, permissions, ...scope, active: boolean({ default: true }) }, { required: ["name"] }),
  },
  { missingBooleans: "absent" },
);

export type ApiKeyBody = TypeOf<typeof apiKeyBody.schema>;

/** The body of a new device. */
export const deviceBody = bodyOf(
  {
    title: "DeviceBody",
    ...object({ name, ...ofDevice, ...scope, revoked: boolean({ default: false }) }, { required: ["name"] }),
  },
  { missingBooleans: "absent" },
);

export type DeviceBody = TypeOf<typeof deviceBody.schema>;

const token = text({ description: "What it authenticates with. Shown here and never again." });
const settled = boolean({
  description: "Whether all gateways know of it by now. If not, they will as soon as they can be reached.",
});

const scopeShown = { all_events: boolean(), events: arrayOf(slug()) };

const keyShownFields = {
  id: text({ description: "The first 16 characters of the SHA-256 of its token, in hex." }),
  name: text(),
  permissions: arrayOf(text(), { description: "Current names; `*` for all." }),
  ...scopeShown,
  active: boolean({ description: "False: it was revoked." }),
};

const deviceShownFields = {
  device_id: id(),
  name: text(),
  gate: id({ nullable: true }),
  security_profile: text(),
  software_brand: text(),
  ...scopeShown,
  revoked: boolean(),
};

/** An API key as it is answered. */
export const apiKeyShown = record("ApiKey", keyShownFields);
export const apiKeyCreated = record("CreatedApiKey", { ...keyShownFields, token, settled });
export const apiKeyRevoked = record("RevokedApiKey", { ...keyShownFields, settled });

/** A device as it is answered. */
export const deviceShown = record("Device", deviceShownFields);
export const deviceCreated = record("CreatedDevice", { ...deviceShownFields, token, settled });
export const deviceRevoked = record("RevokedDevice", { ...deviceShownFields, settled });

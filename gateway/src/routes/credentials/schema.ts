import { boolean, id, object, partial, text } from "@tessera/kit/schema-build";
import { apiKey, device, sentDevice } from "@tessera/resources/credential";
import { record } from "../../answers.ts";
import { bodyOf } from "../../route.ts";

const name = text({ blank: false, maxLength: 190, description: "What to find it again by." });

/** The body of a new API key. */
export const apiKeyBody = bodyOf(
  { title: "ApiKeyBody", ...object({ ...apiKey.properties, name }, { required: ["name"] }) },
  { missingBooleans: "absent" },
);

/** The body of a new device. */
export const deviceBody = bodyOf(
  { title: "DeviceBody", ...object({ ...sentDevice.properties, name }, { required: ["name"] }) },
  { missingBooleans: "absent" },
);

const token = text({ description: "What it authenticates with. Shown here and never again." });
const settled = boolean({
  description: "Whether all gateways know of it by now. If not, they will as soon as they can be reached.",
});

const ofKeyShown = partial(apiKey).properties;

const keyShownFields = {
  id: text({ description: "The first 16 characters of the SHA-256 of its token, in hex." }),
  ...ofKeyShown,
  permissions: { ...ofKeyShown.permissions, description: "Current names; `*` for all." },
};

const deviceShownFields = { device_id: id(), ...partial(device).properties };

/** An API key as it is answered. */
export const apiKeyShown = record("ApiKey", keyShownFields);
export const apiKeyCreated = record("CreatedApiKey", { ...keyShownFields, token, settled });
export const apiKeyRevoked = record("RevokedApiKey", { ...keyShownFields, settled });

/** A device as it is answered. */
export const deviceShown = record("Device", deviceShownFields);
export const deviceCreated = record("CreatedDevice", { ...deviceShownFields, token, settled });
export const deviceRevoked = record("RevokedDevice", { ...deviceShownFields, settled });

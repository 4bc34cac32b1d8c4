import { apiKey, device, sentDevice } from "@tessera/resources/credential";
import { arrayOf, boolean, choice, id, instant, integer, object, partial, text } from "@tessera/schema/build";
import type { Properties } from "@tessera/schema/schema";
import { deviceProfiles, everyPermission, permissionNames, permissions } from "@tessera/values";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

const name = text({ blank: false, maxLength: 190, description: "What to find it again by." });

/** The closed lists are documented, not checked: boxoffice names the wrong element, and accepts unknown profiles. */
const named = { ...apiKey.properties.permissions, items: text({ enum: permissionNames }) };
const profiled = { ...sentDevice.properties.security_profile, enum: [...deviceProfiles, null] };

export const apiKeyBody = bodyOf(
  { title: "ApiKeyBody", ...object({ ...apiKey.properties, permissions: named, name }, { required: ["name"] }) },
  { missingBooleans: "absent" },
);

export const deviceBody = bodyOf(
  {
    title: "DeviceBody",
    ...object({ ...sentDevice.properties, security_profile: profiled, name }, { required: ["name"] }),
  },
  { missingBooleans: "absent" },
);

const token = text({ description: "What it authenticates with. Shown here and never again." });
const settled = boolean({
  description: "Whether all gateways know of it by now. If not, they will as soon as they can be reached.",
});

const setup = {
  initialization_token: text({
    description: "The code with which a scanner sets itself up as this device: once, within a week.",
  }),
  setup: text({ description: "The same as the text of a QR code, which scanners read." }),
};

const contact = {
  last_contact: instant({ nullable: true, description: "When it last sent a request; as old as ten seconds." }),
  last_sync: instant({ nullable: true, description: "When it was last given all changes of the sync feed." }),
  queue_length: integer({ nullable: true, description: "How many scans it has still to upload, as it said last." }),
  battery_level: integer({ nullable: true, description: "In percent, as it said last." }),
};

function answersOf<P extends Properties, C extends Properties>(
  title: string,
  shown: P,
  { created, listed = {} }: { readonly created: C; readonly listed?: Properties },
) {
  return {
    listed: record(title, { ...shown, ...listed }),
    created: record(`Created${title}`, { ...shown, ...created, settled }),
    revoked: record(`Revoked${title}`, { ...shown, settled }),
  };
}

const ofKeyShown = partial(apiKey).properties;

export const apiKeyAnswers = answersOf(
  "ApiKey",
  {
    id: text({ description: "The first 16 characters of the SHA-256 of its token, in hex." }),
    ...ofKeyShown,
    permissions: arrayOf(choice([everyPermission, ...permissions]), { description: "Current names; `*` for all." }),
  },
  { created: { token } },
);

export const deviceAnswers = answersOf(
  "Device",
  {
    device_id: id(),
    ...partial(device).properties,
    security_profile: choice(deviceProfiles, { description: "What it may do." }),
  },
  { created: { token, ...setup }, listed: contact },
);

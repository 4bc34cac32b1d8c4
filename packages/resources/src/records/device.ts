import { field, id, needed, object, text } from "@tessera/schema/build";
import { sentDevice } from "../credential.ts";

const token = field(
  needed(text({ nullable: true, default: null, trim: false, blank: false, maxLength: 1000 })),
  "Its key, of at least 16 ASCII characters without blanks. It is stored as a hash. Null: the device was never initialised, nothing authenticates as it.",
  "example-device-key-5d41c8a7",
);

/** What requests and records have in common. */
export const deviceWithoutToken = object(
  { device_id: field(id(), "Its number, unique in the organizer.", 1), ...sentDevice.properties },
  { required: ["device_id"] },
);

export const deviceRecord = object({ token, ...deviceWithoutToken.properties }, { required: ["device_id"] });

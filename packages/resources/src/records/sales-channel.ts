import { field, integer, object, text } from "@tessera/schema/build";
import { names, verbatim } from "./parts.ts";

export const salesChannelRecord = object(
  {
    identifier: field(verbatim(190), "Its name in other records. `web` exists without a record.", "box-office"),
    label: field(names(), "Its name for people, by language.", { en: "Box office" }),
    type: field(text({ default: "api", maxLength: 190 }), "The kind of channel.", "api"),
    position: field(integer({ default: 0 }), "Its place in lists.", 1),
  },
  { required: ["identifier"] },
);

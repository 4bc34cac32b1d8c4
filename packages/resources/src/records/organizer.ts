import { field, object, slug, text } from "@tessera/schema/build";

export const organizerRecord = object(
  {
    slug: field(slug(), "Its short name, as `organizer` of the record has it.", "bigevents"),
    name: field(text({ default: "", maxLength: 200 }), "Its name.", "Big Events"),
  },
  { required: ["slug"] },
);

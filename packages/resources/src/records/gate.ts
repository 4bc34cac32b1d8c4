import { field, id, object, text } from "@tessera/schema/build";

export const gateRecord = object(
  {
    id: field(id(), "Its id, unique in the organizer.", 1),
    name: field(text({ default: "", maxLength: 190 }), "Its name.", "West"),
    identifier: field(text({ default: "", maxLength: 190 }), "Its name in other systems.", "west"),
  },
  { required: ["id"] },
);

import { boolean, field, id, integer, object } from "@tessera/schema/build";
import { lineOrNull, names, namesOrNull } from "./parts.ts";

export const categoryRecord = object(
  {
    id: field(id(), "Its id.", 1),
    name: field(names(), "Its name, by language.", { en: "Tickets" }),
    internal_name: field(lineOrNull(), "Its name for staff; null: `name`.", "Tickets"),
    description: field(namesOrNull(), "Text for buyers, by language.", { en: "All days" }),
    position: field(integer({ default: 0 }), "Its place in lists.", 1),
    is_addon: field(boolean({ default: false }), "Its products are sold only as add-ons of others."),
  },
  { required: ["id"] },
);

import { arrayOf, boolean, field, id, integer, needed, object, text } from "@tessera/schema/build";
import { idOrNull } from "./parts.ts";

export const quotaRecord = object(
  {
    id: field(id(), "Its id.", 1),
    name: field(text({ default: "", maxLength: 200 }), "Its name for staff.", "All tickets"),
    size: field(
      needed(integer({ nullable: true, default: null, minimum: 0 })),
      "How many there are; null: unlimited.",
      100,
    ),
    items: field(arrayOf(id(), { default: [], maxItems: 10_000 }), "The items that it counts.", [1, 2]),
    variations: field(
      arrayOf(id(), { default: [], maxItems: 10_000 }),
      "The variations that it counts, of items that have some.",
      [21, 22],
    ),
    subevent: field(idOrNull(), "The date that it counts, in a series."),
    closed: field(needed(boolean({ default: false })), "Nothing more is sold."),
    close_when_sold_out: field(boolean({ default: false }), "It closes when nothing is left, and stays closed."),
    release_after_exit: field(boolean({ default: false }), "A ticket that was scanned at an exit counts no more."),
    ignore_for_event_availability: field(
      boolean({ default: false }),
      "It does not matter for whether the event is shown as sold out.",
    ),
  },
  { required: ["id"] },
);

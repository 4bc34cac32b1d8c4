import { any, boolean, field, id, needed, object, orPlain, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { idOrNull, lineOrNull, storableText, verbatim } from "./parts.ts";

const longestGuid = 190;

/** What a seat says of itself, as a record and in a position. */
const seatFields = {
  id: field(idOrNull(), "Its id.", 1),
  name: field(lineOrNull(1000), "Null: made of zone, row and number.", "Stalls, row 1, seat 7"),
  seat_guid: field(verbatim(longestGuid), "What orders name it by.", "stalls-1-7"),
  zone_name: field(text({ default: "", maxLength: 1000 }), "The zone that it is in.", "Stalls"),
  row_name: field(text({ default: "", maxLength: 1000 }), "Its row.", "1"),
  row_label: field(lineOrNull(1000), "How its row is called on tickets.", "Row 1"),
  seat_number: field(text({ default: "", maxLength: 1000 }), "Its number in the row.", "7"),
  seat_label: field(lineOrNull(1000), "How it is called on tickets.", "Seat 7"),
};

export const seatRecord = object(
  {
    ...seatFields,
    id: field(id(), "Its id.", 1),
    subevent: field(needed(idOrNull()), "Its date, in a series."),
    product: field(idOrNull(), "The item that it is sold with."),
    blocked: field(boolean({ default: false }), "It is not sold."),
    orderposition: field(
      any({ default: null, readOnly: true }),
      "Follows from the positions of orders; need not be sent.",
      null,
    ),
  },
  { required: ["id", "seat_guid"] },
);

const seatObject = object(seatFields, { required: ["seat_guid"] });

export type SeatData = TypeOf<typeof seatObject>;

/** A seat as its guid alone, or with all that is known of it. */
export const seatOfPosition = field(
  orPlain(seatObject, ["string", "null"], {
    minLength: 1,
    maxLength: longestGuid,
    ...storableText,
    default: null,
  }),
  "Its guid, or the seat itself, which then need not be known. A seat that is known stays as it is.",
  "stalls-1-7",
);

import { arrayOf, id, instant, integer, object, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import { errorReasons } from "../failed-checkins/schema.ts";

const maybe = { nullable: true } as const;

const scans = {
  entries: integer({ description: "Successful ones." }),
  exits: integer({ description: "Successful ones." }),
  refusals: integer(),
};

const of = <const P extends Parameters<typeof object>[0]>(properties: P) =>
  object(properties, { required: Object.keys(properties) });

export const dayReportShown = record("CheckinReport", {
  date: text({ description: "The day, on the calendar of the event." }),
  timezone: text({ description: "An IANA name." }),
  list: id({ ...maybe, description: "Null: all lists." }),
  subevent: id({ ...maybe, description: "Null: all dates." }),
  totals: of({
    scans: integer({ description: "Entries, exits and refusals." }),
    ...scans,
    entered: integer({ description: "Different tickets with an entry." }),
  }),
  first_scan: instant({ ...maybe, description: "Null: there was none." }),
  last_scan: instant(maybe),
  inside: of({
    at_begin: integer({ description: "When the day began." }),
    at_end: integer(),
    peak: integer({ description: "The most at the end of any second." }),
    peak_at: instant({ description: "When it was reached first." }),
  }),
  quarters: arrayOf(
    of({
      start: instant(),
      local: text({ description: "The time on the wall clock." }),
      ...scans,
      inside: integer({ description: "At its end; of several lists the sum of those inside by each." }),
    }),
    { description: "Of an hour. A day on which the clocks move has more or fewer than 96." },
  ),
  products: arrayOf(
    of({
      item: id({ ...maybe, description: "Null: refused codes without a ticket." }),
      item_name: text(maybe),
      variation: id(maybe),
      variation_name: text(maybe),
      ...scans,
      entered: integer({ description: "Different tickets with an entry." }),
    }),
    { description: "Most scans first, as in all of the following." },
  ),
  lists: arrayOf(of({ list: id(), list_name: text(maybe), ...scans })),
  gates: arrayOf(
    of({
      gate: id({ ...maybe, description: "Null: at no gate." }),
      gate_name: text({ ...maybe, description: "Null: it was deleted, or is no gate of the organizer." }),
      ...scans,
    }),
  ),
  devices: arrayOf(
    of({
      device: id({ ...maybe, description: "The internal id; null: by no device." }),
      device_name: text({ ...maybe, description: "Null: no device of the organizer has this id." }),
      ...scans,
    }),
  ),
  reasons: arrayOf(of({ reason: text({ enum: errorReasons }), count: integer() })),
});

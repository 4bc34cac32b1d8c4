import {
  any,
  arrayOf,
  boolean,
  choice,
  id,
  instant,
  integer,
  mapOf,
  orPlain,
  plain,
  text,
} from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import { printShown } from "./print.ts";

const maybe = { nullable: true } as const;
/** An id, or with `expand` the resource itself. */
const expandable = (name: string) =>
  plain(["integer", "object"], { description: `An id; with \`expand=${name}\` the resource itself.` });

const money = text({ description: "A decimal." });

/** The fields of a scan, wherever it is shown. */
export const checkinFields = {
  id: id(),
  datetime: instant({ description: "When it was scanned." }),
  list: id(),
  auto_checked_in: boolean(),
  gate: id(maybe),
  device: id({ ...maybe, description: "Internal id." }),
  device_id: id({ ...maybe, description: "Number at the organizer." }),
  type: choice(["entry", "exit"]),
};

export const checkinShown = record("Checkin", checkinFields);

/** The fields of an answer beside its question. */
export const answerFields = {
  answer: text({ description: "Of an answer that is a file the address where it can be downloaded." }),
  question_identifier: text(),
  options: arrayOf(id()),
  option_identifiers: arrayOf(text()),
};

const answerShown = record("Answer", { question: expandable("answers.question"), ...answerFields });

export const downloadShown = record("Download", { output: text(), url: text() });

export const seat = record("Seat", {
  id: id(),
  name: text(),
  seat_guid: text(),
  zone_name: text(),
  row_name: text(),
  row_label: text(maybe),
  seat_label: text(maybe),
  seat_number: text(),
});

const fields = {
  id: id(),
  order: text({ description: "Code of its order." }),
  positionid: integer({ description: "Number within its order." }),
  item: expandable("item"),
  variation: orPlain(expandable("variation"), ["null"]),
  price: money,
  attendee_name: text({ ...maybe, description: "Its own name, else its parent's, else that of the invoice address." }),
  attendee_name_parts: mapOf(text()),
  company: text(maybe),
  street: text(maybe),
  zipcode: text(maybe),
  city: text(maybe),
  country: text(maybe),
  state: text(maybe),
  attendee_email: text(maybe),
  voucher: id(maybe),
  tax_rate: money,
  tax_value: money,
  tax_rule: id(maybe),
  secret: text(),
  addon_to: id(maybe),
  subevent: orPlain(expandable("subevent"), ["null"]),
  checkins: arrayOf(checkinShown, { description: "Successful scans on this list, newest first." }),
  print_logs: arrayOf(printShown, {
    description:
      "The newest prints in the order in which they came, at most 20. Empty while that cannot be told at once.",
  }),
  downloads: arrayOf(downloadShown),
  answers: arrayOf(answerShown),
  pseudonymization_id: text(),
  seat: orPlain(seat, ["null"]),
  require_attention: boolean(),
  order__status: choice(["n", "p", "e", "c"], { description: "Pending, paid, expired, canceled." }),
  order__valid_if_pending: boolean(),
  order__require_approval: boolean(),
  order__locale: text(),
  valid_from: instant(maybe),
  valid_until: instant(maybe),
  blocked: arrayOf(text(), { nullable: true }),
};

const addonShown = record("ListedAddon", {
  ...fields,
  addons: arrayOf(any(), { maxItems: 0, description: "Add-ons have none." }),
});

export const positionShown = record(
  "ListedPosition",
  {
    ...fields,
    addons: arrayOf(addonShown, { description: "With `expand=addons`; canceled ones are left out." }),
    pdf_data: mapOf(any(), { description: "With `pdf_data=true`; not on add-ons." }),
  },
  { optional: ["addons", "pdf_data"] },
);

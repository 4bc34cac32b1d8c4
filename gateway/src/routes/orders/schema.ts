import { orderRecord, positionRecord } from "@tessera/resources/records/order";
import { any, arrayOf, boolean, choice, id, instant, mapOf, object, orPlain, text } from "@tessera/schema/build";
import type { Properties, TypeOf } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";
import { answerFields, checkinShown, downloadShown, seat } from "../listed-positions/schema.ts";

const maybe = { nullable: true } as const;

const printTypes = ["badge", "ticket", "certificate", "other"] as const;

/** What a device says of its printer. */
const info = mapOf(any(), { default: {}, maxProperties: 100, description: "What the sender says of it." });

const printFields = {
  source: text({ blank: false, maxLength: 255, description: "What printed it, for instance the name of an app." }),
  type: choice(printTypes),
};

/** A device tells a few words. */
const mostPrintBytes = 64 * 1024;

export const printBody = bodyOf(
  {
    title: "PrintBody",
    ...object(
      {
        ...printFields,
        datetime: instant({ ...maybe, description: "When it was printed. Default: now." }),
        info,
        successful: boolean({ default: true, description: "Default: true." }),
      },
      { required: ["source", "type"] },
    ),
  },
  { maxBytes: mostPrintBytes },
);

export type PrintBody = TypeOf<typeof printBody.schema>;

export const printShown = record("Print", {
  id: id(),
  successful: boolean(),
  datetime: instant(),
  ...printFields,
  device_id: id({ ...maybe, description: "Number of the device at the organizer." }),
  info,
});

/** An object from which `include` and `exclude` leave out what a client does not want. */
const choosable = <P extends Properties>(title: string, fields: P) =>
  record(title, fields, { optional: Object.keys(fields) });

export const orderPosition = choosable("OrderPosition", {
  ...positionRecord.properties,
  order: text({ description: "Code of its order." }),
  attendee_name: text({ ...maybe, description: "Composed of its parts where it is not sent." }),
  attendee_name_parts: mapOf(text()),
  seat: orPlain(seat, ["null"]),
  answers: arrayOf(record("OrderAnswer", { question: id(), ...answerFields })),
  checkins: arrayOf(checkinShown, {
    description: "The newest successful scans on all lists, newest first, at most 100.",
  }),
  print_logs: arrayOf(printShown, { description: "The newest prints in the order in which they came, at most 100." }),
  downloads: arrayOf(downloadShown),
  plugin_data: mapOf(any(), { description: "Always empty." }),
  pdf_data: mapOf(any(), { description: "With `pdf_data=true`." }),
});

const notKnown = (what: string) => ({ description: `Not known here: ${what}.` });

export const order = choosable("Order", {
  ...orderRecord.properties,
  event: text({ description: "The slug of its event." }),
  positions: arrayOf(orderPosition),
  last_modified: instant({ description: "When it or a position changed here, or a ticket was scanned." }),
  downloads: arrayOf(any(), notKnown("files of whole orders")),
  payments: arrayOf(any(), notKnown("payments")),
  refunds: arrayOf(any(), notKnown("refunds")),
  payment_date: instant({ ...maybe, ...notKnown("payments") }),
  payment_provider: text({ ...maybe, ...notKnown("payments") }),
  url: text({ ...maybe, ...notKnown("the pages of the shop") }),
  plugin_data: mapOf(any(), { description: "Always empty." }),
});

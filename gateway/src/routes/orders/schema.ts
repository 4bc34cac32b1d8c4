import { orderRecord, positionRecord } from "@tessera/resources/records/order";
import { any, arrayOf, boolean, id, instant, mapOf, object, orNothing, orPlain, text } from "@tessera/schema/build";
import type { Properties, TypeOf } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";
import { mostInfoBytes, printFields, printShown } from "../listed-positions/print.ts";
import { answerFields, checkinShown, downloadShown, seat } from "../listed-positions/schema.ts";

const maybe = { nullable: true } as const;

export const printBody = bodyOf(
  {
    title: "PrintBody",
    ...object(
      {
        ...printFields,
        ...orNothing({
          datetime: instant({ ...maybe, description: "When it was printed. Default: now." }),
          info: mapOf(any(), {
            ...maybe,
            maxProperties: 100,
            description: `What the sender says of it, in at most ${mostInfoBytes} bytes.`,
          }),
          successful: boolean({ ...maybe, default: true, description: "Default: true." }),
        }),
      },
      { required: ["source", "type"] },
    ),
  },
  { maxBytes: 64 * 1024 },
);

export type PrintBody = TypeOf<typeof printBody.schema>;

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
  print_logs: arrayOf(printShown, { description: "The newest prints in the order in which they came, at most 20." }),
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

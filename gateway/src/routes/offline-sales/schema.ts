import { arrayOf, boolean, id, instant, integer, object, text } from "@tessera/schema/build";
import { fieldErrors, record } from "../../http/answers.ts";
import { type Answer, bodyOf } from "../../http/route.ts";

/** The longest comment takes six bytes for each UTF-16 code unit, if a client escapes it. */
const batchLimits = { maxBytes: 1024 * 1024, mostValues: 5000 };

const most = 10_000;

export const batchBody = bodyOf(
  {
    title: "OfflineSalesBatchBody",
    ...object(
      {
        testmode: boolean({ default: false, description: "Whether the orders are test orders." }),
        sales_channel: text({ maxLength: 190, description: "The sales channel of the orders." }),
        layout: id({ description: "What the tickets are printed with." }),
        subevent: id({ nullable: true, default: null, description: "The date, where the event is a series." }),
        item: id({ description: "The product." }),
        variation: id({ nullable: true, default: null, description: "Of a product that has variations." }),
        amount: integer({ minimum: 1, maximum: most, description: "How many tickets." }),
        comment: text({ default: "", maxLength: 65_536, description: "An internal note." }),
      },
      { required: ["sales_channel", "layout", "item", "amount"] },
    ),
  },
  batchLimits,
);

export const cancelBody = bodyOf({
  title: "OfflineSalesBatchCancel",
  ...object(
    { force: boolean({ default: false, description: "Cancel also if tickets were scanned." }) },
    { required: [] },
  ),
});

const shown = {
  id: id(),
  creation: instant({ description: "When it was created." }),
  canceled: instant({ nullable: true, description: "When its orders were canceled; null: they were not." }),
  testmode: boolean(),
  sales_channel: text({ trim: false }),
  layout: id(),
  subevent: id({ nullable: true }),
  item: id(),
  variation: id({ nullable: true }),
  amount: integer(),
  comment: text({ trim: false }),
};

export const batchListed = record("OfflineSalesBatchListed", shown);

export const batchShown = record("OfflineSalesBatch", {
  ...shown,
  orders: arrayOf(text(), { description: "The codes of its orders, in the order of its tickets." }),
});

export const startedShown = record("OfflineSalesBatchStarted", {
  check: text({ description: "Answers the batch once it is made." }),
});

export const renderingShown = record("OfflineSalesBatchRenderStarted", {
  download: text({ description: "Answers the file once it is made." }),
});

/** The scans that prevent a cancellation. */
export const scannedShown: Answer = {
  description: "Tickets were scanned, and `force` is not set; or the request is not valid.",
  schema: {
    anyOf: [
      record("TicketsScanned", {
        detail: text(),
        scanned_orders: arrayOf(text(), { description: "The orders whose tickets were scanned." }),
      }),
      fieldErrors,
    ],
  },
};

import {
  any,
  arrayOf,
  boolean,
  choice,
  decimal,
  field,
  id,
  instant,
  integer,
  needed,
  object,
  orUnread,
  text,
} from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { freeMap, idOrNull, instantOrNull, lineOrNull, longAgo, nameParts, taxRate, verbatim } from "./parts.ts";
import { seatOfPosition } from "./seat.ts";

/** A text; a missing one is empty or null. */
const blankOrNull = (maxLength = 255) => text({ nullable: true, default: "", maxLength });

/** An answer of a position to a question. */
export const answerRecord = object(
  {
    question: field(id(), "The question.", 1),
    answer: field(
      needed(text({ trim: false, default: "" })),
      "The answer as text. A file is written as `data:image/png;base64,…`: PNG, JPEG, GIF or PDF of at most 10 MiB.",
      "Vegan",
    ),
    question_identifier: field(
      text({ default: "", maxLength: 190 }),
      "The identifier of the question; left out: the one that the question has.",
      "FOOD",
    ),
    options: field(arrayOf(id(), { default: [], maxItems: 1000 }), "The options that were chosen.", [11]),
    option_identifiers: field(
      arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
      "Their identifiers; left out: those that the options have.",
      ["VEGAN"],
    ),
    file_name: field(lineOrNull(), "The name of the file, of an answer that is one.", "portrait.png"),
  },
  { required: ["question"] },
);

/** An answer as it was sent. */
export type SentAnswer = TypeOf<typeof answerRecord>;

const checkin = object(
  {
    id: field(id(), "Its id, unique in the position.", 1),
    list: field(id(), "The check-in list. It need not be known.", 1),
    datetime: field(instant(), "When it was scanned."),
    type: field(needed(choice(["entry", "exit"], { default: "entry" })), "In which direction."),
    gate: field(idOrNull(), "The gate."),
    device: field(idOrNull(), "The id of the device in the shop."),
    device_id: field(idOrNull(), "The number of the device."),
    auto_checked_in: field(boolean({ default: false }), "The shop made it, without a scan."),
  },
  { required: ["id", "list", "datetime"] },
);

export type CheckinData = TypeOf<typeof checkin>;

const taxed = {
  tax_rate: field(taxRate(), "The tax rate in percent.", "19.00"),
  tax_value: field(decimal({ default: "0.00" }), "The tax within the price.", "3.67"),
  tax_code: field(lineOrNull(190), "The code of the rate for electronic invoices.", "S/standard"),
  tax_rule: field(idOrNull(), "The tax rule."),
};

/** A position of an order. */
export const positionRecord = object(
  {
    id: field(needed(id()), "Its id, unique in the event.", 1001),
    positionid: field(integer({ default: 1, minimum: 1, maximum: 2 ** 31 - 1 }), "Its number in the order.", 1),
    canceled: field(needed(boolean({ default: false })), "It was canceled; the ticket admits no more."),
    item: field(id(), "What was sold.", 1),
    variation: field(idOrNull(), "The variation of the item.", 21),
    price: field(decimal({ default: "0.00" }), "What it cost, with tax.", "23.00"),
    attendee_name: field(lineOrNull(1000), "Who comes.", "Jo Example"),
    attendee_name_parts: field(nameParts(), "The parts of that name.", { given_name: "Jo", family_name: "Example" }),
    attendee_email: field(lineOrNull(1000), "The e-mail address of that person.", "jo@example.org"),
    company: field(lineOrNull(1000), "The company.", "Example Ltd"),
    street: field(lineOrNull(10_000), "Street and number.", "Main Street 1"),
    zipcode: field(lineOrNull(1000), "The postal code.", "69115"),
    city: field(lineOrNull(1000), "The city.", "Heidelberg"),
    country: field(lineOrNull(2), "The country, as two letters.", "DE"),
    state: field(lineOrNull(), "The state or province.", "CA"),
    voucher: field(idOrNull(), "The voucher that it was bought with. It need not be known."),
    voucher_budget_use: field(
      decimal({ nullable: true, default: null }),
      "What it takes of the voucher's budget.",
      "5.00",
    ),
    discount: field(idOrNull(), "The id of its discount in the shop."),
    ...taxed,
    secret: field(
      verbatim(1000),
      "What its ticket shows and a scan reads, to the letter. Unique in the event, or scans of it are refused as `ambiguous`.",
      "z3fsn8jyufm5kpk768q69gkbyr5f4h6w",
    ),
    addon_to: field(idOrNull(), "The id of another position of the order, whose add-on it is.", 1002),
    subevent: field(needed(idOrNull()), "Its date, required in a series."),
    blocked: field(
      needed(
        arrayOf(needed(text({ blank: false, maxLength: 1000 })), { nullable: true, default: null, maxItems: 1000 }),
      ),
      "Why the ticket is blocked; null: it is not.",
      ["admin"],
    ),
    valid_from: field(needed(instantOrNull()), "The ticket admits from then on."),
    valid_until: field(needed(instantOrNull()), "The ticket admits until then."),
    pseudonymization_id: field(
      text({ trim: false, default: "", maxLength: 190 }),
      "A code that stands for the person, without a name.",
      "MQLJvANO3B",
    ),
    answers: field(arrayOf(answerRecord, { nullable: true, default: [], maxItems: 1000 }), "Answers to questions."),
    seat: seatOfPosition,
    checkins: field(
      arrayOf(checkin, { nullable: true, default: [], maxItems: 10_000 }),
      "Scans made elsewhere, at most 10000. Without any, the known ones stay.",
    ),
  },
  { required: ["id", "item", "secret"] },
);

export type SentPosition = TypeOf<typeof positionRecord>;

const fee = object({
  id: field(idOrNull(), "Its id.", 1),
  fee_type: field(text({ default: "other", maxLength: 190 }), "What it is for.", "shipping"),
  internal_type: field(text({ default: "", maxLength: 255 }), "What it is for, in words of the shop.", "dhl"),
  description: field(text({ default: "", maxLength: 1000 }), "Text for the buyer.", "Shipping"),
  value: field(decimal({ default: "0.00" }), "What it costs, with tax.", "4.90"),
  canceled: field(boolean({ default: false }), "It was canceled."),
  ...taxed,
});

const invoiceAddress = object(
  {
    last_modified: field(instantOrNull(), "When it was changed last."),
    company: field(blankOrNull(1000), "The company.", "Example Ltd"),
    is_business: field(boolean({ default: false }), "The buyer is a business."),
    name: field(blankOrNull(1000), "The buyer's name.", "Jo Example"),
    name_parts: field(nameParts(), "The parts of that name.", { given_name: "Jo", family_name: "Example" }),
    street: field(blankOrNull(10_000), "Street and number.", "Main Street 1"),
    zipcode: field(blankOrNull(), "The postal code.", "69115"),
    city: field(blankOrNull(1000), "The city.", "Heidelberg"),
    country: field(blankOrNull(2), "The country, as two letters.", "DE"),
    state: field(blankOrNull(), "The state or province.", "CA"),
    internal_reference: field(blankOrNull(10_000), "The buyer's own reference.", "PO-4711"),
    custom_field: field(lineOrNull(10_000), "A field of the shop's own.", "Cost centre 7"),
    vat_id: field(blankOrNull(), "The VAT id.", "DE123456789"),
    vat_id_validated: field(boolean({ default: false }), "The VAT id was checked."),
    transmission_type: field(lineOrNull(190), "How the invoice is sent.", "email"),
    transmission_info: field(any({ default: null }), "What that needs.", {}),
  },
  { nullable: true, default: null },
);

/** Far more than a shop sells in one order. All of them are stored together, and between scans. */
const mostPositions = 5000;

/** An order with its positions. */
export const orderRecord = object(
  {
    code: field(verbatim(50), "Its code, unique in the event.", "ABC12"),
    status: field(choice(["n", "p", "e", "c"]), "Pending, paid, expired or canceled.", "p"),
    testmode: field(boolean({ default: false }), "It was made for a test."),
    secret: field(
      text({ trim: false, default: "", maxLength: 190 }),
      "The secret of the order's page in the shop. It admits to nothing.",
      "k24fiuwvu8kxz3y1",
    ),
    email: field(lineOrNull(1000), "The buyer's e-mail address.", "jo@example.org"),
    phone: field(lineOrNull(), "The buyer's telephone number.", "+491701234567"),
    customer: field(lineOrNull(), "The customer's identifier in the shop.", "BRU8NB7"),
    locale: field(text({ default: "en", blank: false, maxLength: 50 }), "The buyer's language.", "en"),
    sales_channel: field(
      text({ trim: false, default: "web", maxLength: 190 }),
      "The identifier of the sales channel.",
      "web",
    ),
    datetime: field(instant(longAgo), "When it was placed."),
    expires: field(instantOrNull(), "It must be paid until then."),
    total: field(decimal({ default: "0.00" }), "What it costs, with fees and tax.", "23.00"),
    tax_rounding_mode: field(text({ default: "line", maxLength: 190 }), "How the shop rounds taxes.", "line"),
    comment: field(text({ default: "", maxLength: 1_000_000 }), "Notes for staff.", "Invited"),
    api_meta: field(freeMap(any()), "Values of the shop's own, by name.", {}),
    custom_followup_at: field(lineOrNull(50), "The day on which staff looks at it again.", "2027-06-01"),
    checkin_attention: field(boolean({ default: false }), "Scanners ask for special attention."),
    checkin_text: field(lineOrNull(10_000), "Text that scanners show.", "Hand out the badge"),
    require_approval: field(orUnread(boolean({ default: false }), true), "It needs approval before it is paid."),
    valid_if_pending: field(boolean({ default: false }), "Its tickets admit before it is paid."),
    last_modified: field(
      instantOrNull(),
      "When the shop changed or removed it. What became of its vouchers is of this moment.",
    ),
    cancellation_date: field(instantOrNull(), "When it was canceled."),
    invoice_address: field(invoiceAddress, "Whom the invoice is for."),
    fees: field(arrayOf(fee, { default: [], maxItems: 10_000 }), "What is paid beside tickets."),
    positions: field(
      needed(arrayOf(positionRecord, { default: [], maxItems: mostPositions }), "record"),
      `Its tickets, at most ${mostPositions}.`,
    ),
  },
  { required: ["code", "status"] },
);

export type SentOrder = TypeOf<typeof orderRecord>;

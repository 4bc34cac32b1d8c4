import {
  freeMap,
  idOrNull,
  instantOrNull,
  lineOrNull,
  nameParts,
  storableText,
  verbatim,
} from "@tessera/records/schema-parts";
import {
  any,
  arrayOf,
  boolean,
  choice,
  decimal,
  id,
  instant,
  integer,
  object,
  orPlain,
  text,
} from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import type { AnswerFileReading } from "./answer-file.ts";

/** A text; a missing one is empty or null. */
const blankOrNull = (maxLength = 255) => text({ nullable: true, default: "", maxLength });

const answer = object(
  {
    question: id(),
    answer: {
      ...text({ trim: false, default: "" }),
      description: "A file is written as `data:image/png;base64,…`: PNG, JPEG, GIF or PDF of at most 10 MiB.",
    },
    question_identifier: text({ default: "", maxLength: 190 }),
    options: arrayOf(id(), { default: [], maxItems: 1000 }),
    option_identifiers: arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
    file_name: { ...lineOrNull(), description: "Of an answer that is a file." },
  },
  { required: ["question"] },
);

/** An answer of a record, and what it was found to be. */
export type AnswerData = TypeOf<typeof answer> & {
  /** The file is stored beside the order, and `answer` is a reference. */
  readonly isFile?: true | undefined;
  /** What was sent, if it looks like a file or, without a reading, like a reference. */
  readonly sent?: { readonly text: string; readonly reading?: AnswerFileReading };
};

const longestGuid = 190;

/** What a seat says of itself, as a record and in a position. */
export const seatFields = {
  id: idOrNull(),
  name: { ...lineOrNull(1000), description: "Null: made of zone, row and number." },
  seat_guid: verbatim(longestGuid),
  zone_name: text({ default: "", maxLength: 1000 }),
  row_name: text({ default: "", maxLength: 1000 }),
  row_label: lineOrNull(1000),
  seat_number: text({ default: "", maxLength: 1000 }),
  seat_label: lineOrNull(1000),
};

const seatObject = object(seatFields, { required: ["seat_guid"] });

export type SeatData = TypeOf<typeof seatObject>;

/** A seat as its guid alone, or with all that is known of it. */
const seat = orPlain(seatObject, ["string", "null"], {
  minLength: 1,
  maxLength: longestGuid,
  description: "Its guid, or the seat itself, which then need not be known. A seat that is known stays as it is.",
  ...storableText,
  default: null,
});

const checkin = object(
  {
    id: id(),
    list: id(),
    datetime: instant(),
    type: choice(["entry", "exit"], { default: "entry" }),
    gate: idOrNull(),
    device: idOrNull(),
    device_id: idOrNull(),
    auto_checked_in: boolean({ default: false }),
  },
  { required: ["id", "list", "datetime"] },
);

export type CheckinData = TypeOf<typeof checkin>;

const taxed = {
  tax_rate: decimal({ default: "0.00", digits: 10 }),
  tax_value: decimal({ default: "0.00" }),
  tax_code: lineOrNull(190),
  tax_rule: idOrNull(),
};

const position = object(
  {
    id: id(),
    positionid: integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
    canceled: boolean({ default: false }),
    item: id(),
    variation: idOrNull(),
    price: decimal({ default: "0.00" }),
    attendee_name: lineOrNull(1000),
    attendee_name_parts: nameParts(),
    attendee_email: lineOrNull(1000),
    company: lineOrNull(1000),
    street: lineOrNull(10_000),
    zipcode: lineOrNull(1000),
    city: lineOrNull(1000),
    country: lineOrNull(2),
    state: lineOrNull(),
    voucher: idOrNull(),
    voucher_budget_use: decimal({ nullable: true, default: null }),
    discount: idOrNull(),
    ...taxed,
    secret: verbatim(1000),
    addon_to: { ...idOrNull(), description: "The id of another position of the order." },
    subevent: idOrNull(),
    blocked: arrayOf(text({ blank: false, maxLength: 1000 }), { nullable: true, default: null, maxItems: 1000 }),
    valid_from: instantOrNull(),
    valid_until: instantOrNull(),
    pseudonymization_id: text({ trim: false, default: "", maxLength: 190 }),
    answers: arrayOf(answer, { nullable: true, default: [], maxItems: 1000 }),
    seat,
    checkins: {
      ...arrayOf(checkin, { nullable: true, default: [], maxItems: 100_000 }),
      description: "Scans made elsewhere. Without any, the known ones stay.",
    },
  },
  { required: ["id", "positionid", "item", "secret"] },
);

export type PositionData = Omit<TypeOf<typeof position>, "answers"> & { readonly answers: AnswerData[] | null };

const fee = object({
  id: idOrNull(),
  fee_type: text({ default: "other", maxLength: 190 }),
  internal_type: text({ default: "", maxLength: 255 }),
  description: text({ default: "", maxLength: 1000 }),
  value: decimal({ default: "0.00" }),
  canceled: boolean({ default: false }),
  ...taxed,
});

const invoiceAddress = object(
  {
    last_modified: instantOrNull(),
    company: blankOrNull(1000),
    is_business: boolean({ default: false }),
    name: blankOrNull(1000),
    name_parts: nameParts(),
    street: blankOrNull(10_000),
    zipcode: blankOrNull(),
    city: blankOrNull(1000),
    country: blankOrNull(2),
    state: blankOrNull(),
    internal_reference: blankOrNull(10_000),
    custom_field: lineOrNull(10_000),
    vat_id: blankOrNull(),
    vat_id_validated: boolean({ default: false }),
    transmission_type: lineOrNull(190),
    transmission_info: any({ default: null }),
  },
  { nullable: true, default: null },
);

/** An order with its positions. */
export const orderSchema = object(
  {
    code: verbatim(50),
    status: choice(["n", "p", "e", "c"]),
    testmode: boolean({ default: false }),
    secret: text({ trim: false, default: "", maxLength: 190 }),
    email: lineOrNull(1000),
    phone: lineOrNull(),
    customer: lineOrNull(),
    locale: text({ default: "en", blank: false, maxLength: 50 }),
    sales_channel: text({ trim: false, default: "web", maxLength: 190 }),
    datetime: instant(),
    expires: instantOrNull(),
    total: decimal({ default: "0.00" }),
    tax_rounding_mode: text({ default: "line", maxLength: 190 }),
    comment: text({ default: "", maxLength: 1_000_000 }),
    api_meta: freeMap(any()),
    custom_followup_at: lineOrNull(50),
    checkin_attention: boolean({ default: false }),
    checkin_text: lineOrNull(10_000),
    require_approval: boolean({ default: false }),
    valid_if_pending: boolean({ default: false }),
    last_modified: instantOrNull(),
    cancellation_date: instantOrNull(),
    invoice_address: invoiceAddress,
    fees: arrayOf(fee, { default: [], maxItems: 10_000 }),
    positions: arrayOf(position, { default: [], maxItems: 10_000 }),
  },
  { required: ["code", "status", "datetime"] },
);

export type OrderData = Omit<TypeOf<typeof orderSchema>, "positions"> & { readonly positions: PositionData[] };

import {
  arrayOf,
  boolean,
  choice,
  constant,
  id,
  instant,
  integer,
  mapOf,
  object,
  orNothing,
  raw,
  text,
} from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { batchBodyOf } from "../../http/batch-body.ts";
import { type BodyOf, bodyOf } from "../../http/route.ts";
import { errorReasons, sourceTypes } from "../failed-checkins/schema.ts";
import { positionShown } from "../listed-positions/schema.ts";

/** Scans of all organizers are decided together, so each must be small. */
export const scanBytes = 64 * 1024;

const decision = (description: string) => boolean({ nullable: true, description });

/** What every scan may say. */
const scanFields = orNothing({
  type: choice(["entry", "exit", ""], { nullable: true, description: "Default: `entry`." }),
  datetime: instant({ nullable: true, description: "Time of the scan. Default: now." }),
  force: decision("Succeeds whatever was scanned before. For scans made offline. Default: false."),
  ignore_unpaid: decision("Admits pending orders, where the list includes them. Default: false."),
  questions_supported: decision("The scanner can ask the questions of a ticket. Default: true."),
  nonce: text({
    nullable: true,
    trim: false,
    maxLength: 190,
    description: "Identifies the scan: sent again, it succeeds again and is stored once.",
  }),
  answers: mapOf(raw(), {
    nullable: true,
    maxProperties: 1000,
    description: "Answers by question id; a choice is answered by its option ids, separated by commas.",
  }),
  simulate: decision("Stores nothing, and explains the decision. Default: false."),
  source_type: choice(sourceTypes, { nullable: true, description: "What the code was read from. Default: `barcode`." }),
  use_order_locale: decision("Explains in the language of the order, not of the event. Default: false."),
  exchange_medium_type: choice(sourceTypes, {
    nullable: true,
    description: "The type of the medium that the ticket is exchanged for, where `status` was `exchange`.",
  }),
  exchange_medium_identifier: text({
    nullable: true,
    trim: false,
    maxLength: 200,
    description: "What the scanner read from that medium. Blank: it brings none.",
  }),
});

// A form without a field comes from a scanner that does not know it; the default of one is yes.
const asForm = { missingBooleans: "absent", maxBytes: scanBytes } as const;

export const redeemBody = bodyOf(
  {
    title: "RedeemBody",
    ...object({
      ...scanFields,
      ...orNothing({ canceled_supported: decision("The scanner knows the reason `canceled`. Default: false.") }),
    }),
  },
  asForm,
);

/** More lists than gates scan at once; each is looked at for each scan. */
export const mostLists = 32;

export const listsOfEvents = arrayOf(id(), {
  minItems: 1,
  maxItems: mostLists,
  description: "Ids of check-in lists, each of another event.",
});

export const redeemOnListsBody = bodyOf(
  {
    title: "RedeemOnListsBody",
    ...object(
      {
        secret: text({ blank: false, maxLength: 5000, description: "The scanned code." }),
        lists: listsOfEvents,
        ...scanFields,
      },
      { required: ["secret", "lists"] },
    ),
  },
  asForm,
);

/** A day at a gate takes some dozen of them. */
const mostScans = 500;

/** Codes and answers of four thousand characters each. */
const batchBytes = 2 * 1024 * 1024;

const scanOfBatch = bodyOf(
  {
    title: "ScanOfBatch",
    ...object(
      {
        secret: text({ blank: false, maxLength: 5000, description: "The scanned code." }),
        lists: arrayOf(id(), {
          minItems: 1,
          maxItems: mostLists,
          description: "Ids of check-in lists, each of another event. Default: those beside `scans`.",
        }),
        ...scanFields,
        ...orNothing({ simulate: decision("A scan of a batch is never simulated: true is 400.") }),
      },
      { required: ["secret"] },
    ),
  },
  asForm,
);

export const redeemBatchBody = batchBodyOf(
  {
    title: "RedeemBatchBody",
    ...object({
      lists: arrayOf(id(), {
        minItems: 1,
        maxItems: mostLists,
        description: "Ids of check-in lists, for the scans that name none.",
      }),
    }),
  },
  {
    ...{ field: "scans", element: scanOfBatch, mostElements: mostScans, maxBytes: batchBytes },
    description:
      "In the order in which they were made. Of one ticket each is decided on what the earlier ones changed.",
  },
);

export type ScanOfBatch = TypeOf<typeof scanOfBatch.schema>;

export type RedeemBatch = BodyOf<typeof redeemBatchBody>;

/** What bodies of all scans have in common. */
export type ScanBody = Omit<TypeOf<typeof redeemBody.schema>, "canceled_supported">;

const listShown = record("ScannedList", {
  id: id(),
  name: text(),
  event: text({ description: "Slug of its event." }),
  subevent: id({ nullable: true }),
  include_pending: boolean(),
});

const step = object(
  {
    step: choice([
      ...(["code", "nonce", "status", "blocked", "approval", "valid_from", "valid_until", "product", "date"] as const),
      ...(["payment", "rules", "questions", "exchange", "entries", "limit"] as const),
    ]),
    passed: boolean({ nullable: true, description: "Null: an exit is not asked for it." }),
    value: raw(),
    reason: text({ nullable: true, description: "The reason of a refusal." }),
    text: text({ nullable: true, description: "For a person." }),
  },
  { required: ["step", "passed", "value", "reason", "text"] },
);

const clause = object(
  {
    path: text({ description: "Where it is in the rules: `and[0].or[1]`." }),
    rule: raw(),
    passed: boolean({ nullable: true, description: "Null: it cannot be evaluated." }),
    value: raw(),
    wanted: raw(),
    lacks: integer({ nullable: true, description: "How far `value` is from passing: seconds, minutes, or a number." }),
    text: text({ nullable: true, description: "For a person." }),
  },
  { required: ["path", "rule", "passed", "value", "wanted", "lacks", "text"] },
);

const named = (description: string) =>
  arrayOf(object({ id: id(), name: text() }, { required: ["id", "name"] }), { description });

const explanationShown = record("Explanation", {
  steps: arrayOf(step, { description: "The steps of the decision, in order; the first that is not passed decides." }),
  clauses: arrayOf(clause, { description: "The comparisons in the rules of the list, each by itself." }),
  admitted_at: instant({
    nullable: true,
    description: "When the scan would be admitted next, if nothing else changes.",
  }),
  gates: named("Other gates in the rules that would admit it now."),
  lists: named("Other lists of the event that would admit it now."),
});

const around = {
  require_attention: boolean(),
  checkin_texts: arrayOf(text(), { description: "What the staff should read: texts of order, variation and product." }),
  list: listShown,
  explanation: explanationShown,
};

/** Only a simulated scan is explained. */
const optional = ["explanation"] as const;

export const admittedShown = record(
  "Admitted",
  {
    status: constant("ok"),
    ...around,
    position: positionShown,
  },
  { optional },
);

export const refusedShown = record(
  "Refused",
  {
    status: constant("error"),
    reason: choice(errorReasons, { description: "Why, for programs." }),
    reason_explanation: text({ nullable: true, description: "For a person; null where the reason says it all." }),
    ...around,
    position: positionShown,
  },
  { optional: [...optional, "position"] },
);

/** One schema for both statuses: generated clients have one type for all answers below 300. */
export const scannedShown = record(
  "Scanned",
  {
    status: choice(["ok", "error"], { description: "`ok` with 201, `error` with 200." }),
    reason: choice(errorReasons, { description: "Of a refusal: why, for programs." }),
    reason_explanation: text({
      nullable: true,
      description: "Of a refusal: for a person; null where the reason says it all.",
    }),
    ...around,
    position: positionShown,
  },
  { optional: [...optional, "reason", "reason_explanation", "position"] },
);

/** A question as its record has it: these keys, and others that existing clients read. */
const questionShown = {
  title: "Question",
  ...object(
    {
      id: id(),
      question: mapOf(text(), { description: "By language." }),
      type: choice(["N", "S", "T", "B", "C", "M", "F", "D", "H", "W", "CC", "TEL"]),
      required: boolean(),
      items: arrayOf(id()),
      position: integer(),
      identifier: text(),
      ask_during_checkin: boolean(),
      show_during_checkin: boolean(),
      hidden: boolean(),
      options: arrayOf(
        object(
          { id: id(), identifier: text(), position: integer(), answer: mapOf(text()) },
          { required: ["id", "identifier", "position", "answer"] },
        ),
      ),
    },
    {
      required: [
        ...(["id", "question", "type", "required", "items", "position", "identifier", "options"] as const),
        ...(["ask_during_checkin", "show_during_checkin", "hidden"] as const),
      ],
    },
  ),
};

export const incompleteShown = record(
  "Incomplete",
  {
    status: constant("incomplete"),
    ...around,
    position: positionShown,
    questions: arrayOf(questionShown, { description: "What has to be answered first, in the order to ask it." }),
  },
  { optional },
);

export const exchangeShown = record(
  "Exchange",
  {
    status: constant("exchange"),
    media_policy: choice(["reuse", "new", "reuse_or_new"], {
      description: "Whether the medium has to be known, has to be new, or may be either.",
    }),
    media_type: choice(sourceTypes),
    reason: constant("exchange"),
    reason_explanation: text({ description: "For a person." }),
    ...around,
    position: positionShown,
  },
  { optional },
);

export const unknownShown = record(
  "UnknownTicket",
  {
    detail: text(),
    status: constant("error"),
    reason: constant("invalid"),
    reason_explanation: text({ nullable: true }),
    ...around,
  },
  { optional },
);

export const batchShown = record("RedeemedBatch", {
  results: arrayOf(
    record("RedeemedScan", {
      status: integer({ description: "The status that the scan would have alone." }),
      body: mapOf(raw(), {
        description:
          "What it would be answered alone, with the fields that were asked for; the errors of a wrong scan by field.",
      }),
    }),
    { description: "Of the scans in order, up to `next`." },
  ),
  next: integer({ nullable: true, description: "The index of the first scan that was not decided; null: all were." }),
});

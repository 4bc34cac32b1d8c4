import { httpStatus } from "../../http/problem.ts";
import type { Example } from "../../http/route.ts";
import { scanExample, ticketExample } from "../listed-positions/examples.ts";

const around = {
  require_attention: false,
  checkin_texts: [],
  list: { id: 1, name: "Main entrance", event: "conference", subevent: null, include_pending: false },
};

const scanned = { ...ticketExample, checkins: [scanExample] };

/** With its nonce the scan succeeds as often as it is sent. */
export const redeemExample = {
  status: "created",
  body: { type: "entry", nonce: "Pvrk50vUzQd0DhdpNRL4I4OcXsvg70uA" },
  answer: { status: "ok", ...around, position: scanned },
} satisfies Example;

/** A scanner that works on lists of several events. */
export const redeemOnListsExample = {
  status: "created",
  body: { ...redeemExample.body, secret: ticketExample.secret, lists: [1] },
  answer: { status: "ok", ...around, position: scanned },
} satisfies Example;

/** What a gate has scanned while it was offline. */
export const redeemBatchExample = {
  status: "ok",
  body: {
    lists: [1],
    scans: [
      { secret: ticketExample.secret, type: "entry", nonce: "9b7f5", datetime: "2027-07-01T10:00:00Z", force: true },
      { secret: ticketExample.secret, type: "exit", nonce: "9b7f6", datetime: "2027-07-01T11:30:00Z", force: true },
    ],
  },
  answer: {
    results: [1, 2].map(() => ({
      status: httpStatus.created,
      body: { status: "ok", list: around.list, position: { id: ticketExample.id } },
    })),
    next: null,
  },
} satisfies Example;

export const refusedExample = {
  status: "error",
  reason: "already_redeemed",
  reason_explanation: null,
  ...around,
  position: scanned,
};

export const unknownExample = {
  detail: "Not found.",
  status: "error",
  reason: "invalid",
  reason_explanation: null,
  ...around,
};

const passed = (name: string, value: unknown) => ({ step: name, passed: true, value, reason: null, text: null });

export const explainExample = {
  status: "ok",
  path: { lookup: ticketExample.id },
  answer: {
    status: "ok",
    ...around,
    explanation: {
      steps: [
        ...[passed("code", "code"), passed("status", "paid"), passed("blocked", false), passed("approval", false)],
        ...[passed("valid_from", null), passed("valid_until", null), passed("product", 2), passed("date", null)],
        ...[passed("payment", "paid"), passed("rules", null), passed("questions", []), passed("exchange", null)],
        passed("entries", { entries: 0, last: null }),
        passed("limit", null),
      ],
      ...{ clauses: [], admitted_at: null, gates: [], lists: [] },
    },
    position: ticketExample,
  },
} satisfies Example;

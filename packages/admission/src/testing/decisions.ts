import type { ArrivedScan } from "../arrived-scan.ts";
import { decideScan } from "../decide-scan.ts";
import type { AdmissionTerms } from "../list.ts";
import type { Zone } from "../local-time.ts";
import { neverScanned, type Presence } from "../presence.ts";
import { createReaders } from "../readers.ts";
import type { Match, Ticket } from "../ticket.ts";

export { isOutOfOrder, mayEnter } from "../presence.ts";

export const noon = Date.UTC(2026, 10, 21, 12) * 1000;
export const hour = 3_600_000_000;

/** An entry by an up-to-date device. */
export const arrivedScan = (changes: Partial<ArrivedScan> = {}): ArrivedScan => ({
  organizer: "bigevents",
  event: "sampleconf",
  list: 1,
  others: [],
  type: "entry",
  at: noon,
  code: "code",
  rawCode: "code",
  ticketId: null,
  sourceType: "barcode",
  nonce: null,
  deviceId: null,
  gate: null,
  force: false,
  ignoreUnpaid: false,
  canceledSupported: true,
  questionsSupported: true,
  answers: [],
  useOrderLocale: false,
  medium: null,
  traceparent: null,
  mayBeNew: false,
  ...changes,
});

const list = (changes: Partial<AdmissionTerms> = {}): AdmissionTerms => ({
  allProducts: true,
  limitProducts: [],
  subevent: null,
  includePending: false,
  allowMultipleEntries: false,
  allowEntryAfterExit: true,
  ...changes,
});

const ticket = (changes: Partial<Ticket> = {}): Ticket => ({
  id: 1,
  item: 10,
  variation: null,
  subevent: null,
  addonTo: null,
  canceled: false,
  orderStatus: "paid",
  validIfPending: false,
  requireApproval: false,
  blocked: false,
  validFrom: null,
  validUntil: null,
  ...changes,
});

/** A paid ticket, found by its own code. */
export const match = (changes: Partial<Ticket> = {}, more: Partial<Match> = {}): Match => ({
  ticket: ticket(changes),
  foundBy: "code",
  presence: neverScanned,
  hasNonce: false,
  scans: [],
  dates: { from: null, to: null, admission: null },
  questions: [],
  answers: new Map(),
  mediaTerms: null,
  media: [],
  ...more,
});

export const entered: Presence = { version: 1, entries: 1, last: { type: "entry", at: noon - hour } };
export const left: Presence = { version: 2, entries: 1, last: { type: "exit", at: noon - hour } };
export const onlyLeft: Presence = { version: 1, entries: 0, last: { type: "exit", at: noon - hour } };

export const readers = createReaders();

/** Reads answers and times as an event in a time zone does. */
export const readerOf = (timezone: string, locale: string) => ({
  zone: readers.zone(timezone),
  locale,
  habits: readers.habits(locale),
  wording: readers.wording(locale),
});

export function zoneOf(name: string): Zone {
  const zone = readers.zone(name);
  if (zone === null) throw new Error(`there is no time zone ${name}`);
  return zone;
}

/** The differences from an ordinary entry on a list of everything. */
export interface Otherwise {
  readonly how?: Partial<ArrivedScan>;
  readonly on?: Partial<AdmissionTerms>;
  readonly rules?: unknown;
  readonly isMediumElsewhere?: boolean;
  readonly isRevoked?: boolean;
  readonly isMediumEnforced?: boolean;
  readonly room?: { readonly limit: number; readonly inside: number };
  /** The locale of the event; by default English. */
  readonly locale?: string;
}

export function decide(matches: readonly Match[], otherwise: Otherwise = {}) {
  const { how = {}, on = {}, rules = {}, isMediumElsewhere = false, isRevoked = false, locale = "en" } = otherwise;
  const { isMediumEnforced = false, room = null } = otherwise;
  return decideScan(arrivedScan(how), {
    list: list(on),
    room,
    rules: readers.rules(JSON.stringify(rules)),
    reader: readerOf("Europe/Berlin", locale),
    wordingOf: () => readers.wording(locale),
    matches,
    isMediumElsewhere,
    isRevoked,
    isMediumEnforced,
  });
}

/** The outcome in one word: the reason of a refusal. */
export function inWord(...args: Parameters<typeof decide>): string {
  const verdict = decide(...args);
  return verdict.outcome === "refused" ? verdict.reason : verdict.outcome;
}

export const pending = { orderStatus: "pending" } as const;

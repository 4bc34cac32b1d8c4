import { describe, expect, it } from "vitest";
import { decideScan, type Match, type ScanToDecide, type Ticket } from "./decide-scan.ts";
import type { AdmissionTerms } from "./list.ts";
import { neverScanned, type Presence } from "./presence.ts";

const noon = Date.UTC(2026, 10, 21, 12) * 1000;
const hour = 3_600_000_000;

const scan = (changes: Partial<ScanToDecide> = {}): ScanToDecide => ({
  type: "entry",
  at: noon,
  force: false,
  ignoreUnpaid: false,
  canceledSupported: true,
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

const match = (changes: Partial<Ticket> = {}, more: Partial<Match<Ticket>> = {}): Match<Ticket> => ({
  ticket: ticket(changes),
  foundBy: "code",
  presence: neverScanned,
  hasNonce: false,
  ...more,
});

const entered: Presence = { version: 1, entries: 1, last: { type: "entry", at: noon - hour } };
const left: Presence = { version: 2, entries: 1, last: { type: "exit", at: noon - hour } };
const onlyLeft: Presence = { version: 1, entries: 0, last: { type: "exit", at: noon - hour } };

function decide(
  matches: readonly Match<Ticket>[],
  { how = {}, on = {} }: { how?: Partial<ScanToDecide>; on?: Partial<AdmissionTerms> } = {},
) {
  return decideScan(scan(how), { list: list(on), timezone: "Europe/Berlin", matches });
}

/** The outcome in one word: a reason where it is refused. */
function inWord(...args: Parameters<typeof decide>): string {
  const verdict = decide(...args);
  return verdict.outcome === "refused" ? verdict.reason : verdict.outcome;
}

const forced = { how: { force: true } };
const exit = { how: { type: "exit" } } as const;
const pending = { orderStatus: "pending" } as const;

describe("one ticket, by the state of its order", () => {
  it.each([
    ["paid", match(), {}, "admitted"],
    ["canceled", match({ orderStatus: "canceled" }), {}, "canceled"],
    ["expired", match({ orderStatus: "expired" }), {}, "canceled"],
    [
      "canceled, and the device does not know the reason",
      match({ orderStatus: "canceled" }),
      { how: { canceledSupported: false } },
      "unpaid",
    ],
    ["pending", match(pending), {}, "unpaid"],
    ["pending, on a list that includes pending", match(pending), { on: { includePending: true } }, "unpaid"],
    ["pending and waved through", match(pending), { how: { ignoreUnpaid: true } }, "unpaid"],
    [
      "pending and waved through on a list that includes pending",
      match(pending),
      { how: { ignoreUnpaid: true }, on: { includePending: true } },
      "admitted",
    ],
    ["pending but valid", match({ ...pending, validIfPending: true }), {}, "admitted"],
    ["not approved yet", match({ ...pending, requireApproval: true }), {}, "unapproved"],
    [
      "not approved yet but valid if pending",
      match({ ...pending, requireApproval: true, validIfPending: true }),
      {},
      "unapproved",
    ],
    ["paid and approved", match({ requireApproval: true }), {}, "admitted"],
  ] as const)("%s", (_name, found, options, expected) => {
    expect(inWord([found], options)).toBe(expected);
  });
});

describe("one ticket, by what it is", () => {
  it.each([
    ["blocked", match({ blocked: true }), {}, "blocked"],
    ["of a product that is not on the list", match(), { on: { allProducts: false, limitProducts: [11] } }, "product"],
    ["of a product that is on the list", match(), { on: { allProducts: false, limitProducts: [11, 10] } }, "admitted"],
    ["on a list of all products that names others", match(), { on: { limitProducts: [11] } }, "admitted"],
    ["not valid yet", match({ validFrom: noon + 1 }), {}, "invalid_time"],
    ["valid from this instant", match({ validFrom: noon }), {}, "admitted"],
    ["valid until this instant", match({ validUntil: noon }), {}, "admitted"],
    ["no longer valid", match({ validUntil: noon - 1 }), {}, "invalid_time"],
    ["canceled itself, in a paid order", match({ canceled: true }), {}, "unknown_ticket"],
    ["for another date than the list's", match({ subevent: 2 }), { on: { subevent: 1 } }, "unknown_ticket"],
    ["for no date, on a list of one", match(), { on: { subevent: 1 } }, "unknown_ticket"],
    ["for the list's date", match({ subevent: 1 }), { on: { subevent: 1 } }, "admitted"],
    ["for a date, on a list of all dates", match({ subevent: 1 }), {}, "admitted"],
  ] as const)("%s", (_name, found, options, expected) => {
    expect(inWord([found], options)).toBe(expected);
  });

  it("names the limit of its validity as the clocks at the event show it", () => {
    expect(decide([match({ validFrom: noon + hour })])).toMatchObject({ explanation: "Valid from 2026-11-21 14:00." });
    expect(decide([match({ validUntil: noon - hour })])).toMatchObject({
      explanation: "Valid until 2026-11-21 12:00.",
    });
    expect(decide([match({ blocked: true })])).toMatchObject({ explanation: null });
  });
});

describe("one ticket, by its earlier scans on the list", () => {
  it.each([
    ["a first entry", neverScanned, {}, "admitted"],
    ["a second entry", entered, {}, "already_redeemed"],
    ["a second entry where several are allowed", entered, { on: { allowMultipleEntries: true } }, "admitted"],
    ["an entry after an exit", left, {}, "admitted"],
    [
      "an entry after an exit, where exits do not count",
      left,
      { on: { allowEntryAfterExit: false } },
      "already_redeemed",
    ],
    [
      "a first entry after an exit, where exits do not count",
      onlyLeft,
      { on: { allowEntryAfterExit: false } },
      "admitted",
    ],
    ["an exit without an entry", neverScanned, exit, "admitted"],
    ["an exit", entered, exit, "admitted"],
    ["a second exit", left, exit, "admitted"],
  ] as const)("%s", (_name, presence, options, expected) => {
    expect(inWord([match({}, { presence })], options)).toBe(expected);
  });

  it("an entry uploaded late does not undo the exit after it", () => {
    const verdict = decide([match({}, { presence: left })], { how: { at: noon - 2 * hour } });
    expect(verdict).toMatchObject({
      outcome: "admitted",
      presence: { version: 3, entries: 2, last: { type: "exit", at: noon - hour } },
    });
  });

  it("among scans of one instant the last to arrive is the newest", () => {
    const verdict = decide([match({}, { presence: left })], { how: { at: noon - hour } });
    expect(verdict).toMatchObject({ presence: { version: 3, entries: 2, last: { type: "entry", at: noon - hour } } });
  });
});

describe("exits", () => {
  it.each([
    ["are refused for a canceled order", match({ orderStatus: "canceled" }), {}, "canceled"],
    ["are refused for a blocked ticket", match({ blocked: true }), {}, "blocked"],
    ["are refused without approval", match({ ...pending, requireApproval: true }), {}, "unapproved"],
    ["are refused for another product", match(), { allProducts: false }, "product"],
    ["are refused for an unpaid order", match(pending), {}, "unpaid"],
    ["are free of the ticket's time", match({ validFrom: noon + hour, validUntil: noon - hour }), {}, "admitted"],
  ] as const)("%s", (_name, found, on, expected) => {
    expect(inWord([found], { how: { type: "exit" }, on })).toBe(expected);
  });
});

describe("the first objection wins", () => {
  const everything = {
    orderStatus: "canceled",
    blocked: true,
    requireApproval: true,
    validFrom: noon + hour,
    validUntil: noon - hour,
  } as const;
  const other = { allProducts: false, limitProducts: [] };
  it.each([
    ["the state of the order", everything, "canceled"],
    ["a block", { ...everything, ...pending }, "blocked"],
    ["approval", { ...everything, ...pending, blocked: false }, "unapproved"],
    [
      "the beginning of validity",
      { ...everything, ...pending, blocked: false, requireApproval: false },
      "invalid_time",
    ],
    ["the product", pending, "product"],
  ] as const)("%s", (_name, changes, expected) => {
    expect(inWord([match(changes, { presence: entered })], { on: other })).toBe(expected);
  });

  it("payment, before earlier use", () => {
    expect(inWord([match(pending, { presence: entered })])).toBe("unpaid");
  });
});

describe("force", () => {
  it.each([
    ["a canceled order", match({ orderStatus: "canceled" }), {}, true],
    ["a block", match({ blocked: true }), {}, true],
    ["missing approval", match({ ...pending, requireApproval: true }), {}, true],
    ["the ticket's time", match({ validFrom: noon + hour }), {}, true],
    ["another product", match(), { allProducts: false }, true],
    ["missing payment", match(pending), {}, true],
    ["an earlier entry", match({}, { presence: entered }), {}, true],
    ["nothing at all", match(), {}, false],
  ] as const)("overrides %s", (_name, found, on, remembered) => {
    expect(decide([found], { how: { force: true }, on })).toMatchObject({ outcome: "admitted", forced: remembered });
  });

  it.each([
    ["an unknown code", [], "unknown_ticket"],
    ["a canceled position", [match({ canceled: true })], "unknown_ticket"],
    ["several tickets", [match({ id: 1 }), match({ id: 2 })], "ambiguous"],
  ] as const)("does not help with %s", (_name, matches, expected) => {
    expect(inWord(matches, forced)).toBe(expected);
  });
});

describe("a nonce that has succeeded before", () => {
  it.each([
    ["succeeds again", match({}, { hasNonce: true, presence: entered })],
    ["whatever has become of the order", match({ orderStatus: "canceled" }, { hasNonce: true, presence: entered })],
    [
      "whatever has become of the ticket",
      match({ canceled: true, blocked: true }, { hasNonce: true, presence: entered }),
    ],
    ["whatever date it is for now", match({ subevent: 2 }, { hasNonce: true, presence: entered })],
  ])("%s", (_name, found) => {
    expect(inWord([found], { on: { subevent: 1 } })).toBe("repeated");
  });

  it("tells which of several tickets was meant", () => {
    const verdict = decide([match({ id: 1 }), match({ id: 2 }, { hasNonce: true })]);
    expect(verdict).toMatchObject({ outcome: "repeated", match: { ticket: { id: 2 } } });
  });
});

describe("several tickets", () => {
  const base = match({ id: 5, item: 10 });
  const addon = match({ id: 4, item: 11, addonTo: 5 });
  const onlyAddon = { allProducts: false, limitProducts: [11] };
  const chosen = (matches: readonly Match<Ticket>[], on: Partial<AdmissionTerms> = {}) => {
    const verdict = decide(matches, { on });
    return verdict.outcome === "unknown_ticket" ? undefined : [verdict.outcome, verdict.match.ticket.id];
  };

  it("the one whose product is on the list is meant", () => {
    expect(chosen([base, addon], onlyAddon)).toEqual(["admitted", 4]);
  });

  it("several on the list are ambiguous, and the base ticket stands for them", () => {
    expect(chosen([addon, base])).toEqual(["refused", 5]);
    expect(inWord([addon, base])).toBe("ambiguous");
  });

  it("none on the list: the base ticket is refused for its product", () => {
    expect(chosen([addon, base], { allProducts: false })).toEqual(["refused", 5]);
    expect(inWord([addon, base], { on: { allProducts: false } })).toBe("product");
  });

  it("the only one that is valid now is meant", () => {
    const morning = match({ id: 1, validUntil: noon });
    const afternoon = match({ id: 2, validFrom: noon });
    expect(chosen([morning, afternoon])).toEqual(["admitted", 2]);
  });

  it("none valid: the one that becomes valid next", () => {
    const late = match({ id: 1, validFrom: noon + 2 * hour });
    const next = match({ id: 2, validFrom: noon + hour });
    const over = match({ id: 3, validUntil: noon - 1 });
    expect(chosen([late, next, over])).toEqual(["refused", 2]);
  });

  it("none valid and none to come: the one that expired last", () => {
    const longOver = match({ id: 1, validUntil: noon - 2 * hour });
    const over = match({ id: 2, validUntil: noon - hour });
    expect(chosen([longOver, over])).toEqual(["refused", 2]);
  });

  it("canceled ones are not among them", () => {
    expect(chosen([match({ id: 1, canceled: true }), match({ id: 2 })])).toEqual(["admitted", 2]);
  });
});

describe("plus signs that were blanks", () => {
  const asScanned = match({ id: 1 });
  const withBlanks = match({ id: 2 }, { foundBy: "code_with_blanks" });

  it("are tried when nothing has the code as it was scanned", () => {
    expect(decide([withBlanks])).toMatchObject({ outcome: "admitted", match: { ticket: { id: 2 } } });
  });

  it("are not tried otherwise", () => {
    expect(decide([withBlanks, asScanned])).toMatchObject({ outcome: "admitted", match: { ticket: { id: 1 } } });
  });

  it("are tried when what has the code is canceled", () => {
    const canceled = match({ id: 1, canceled: true });
    expect(decide([canceled, withBlanks])).toMatchObject({ outcome: "admitted", match: { ticket: { id: 2 } } });
  });
});

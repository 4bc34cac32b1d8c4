import { questionDocument } from "@tessera/testkit/question-document";
import { describe, expect, it } from "vitest";
import { neverScanned } from "./presence.ts";
import { readQuestion } from "./questions/question.ts";
import { decide, entered, hour, inWord, left, match, noon, onlyLeft, pending } from "./testing/decisions.ts";

const forced = { how: { force: true } };
const exit = { how: { type: "exit" } } as const;

const isOfAge = readQuestion(questionDocument(7));

describe("[C3.20, C3.22, C3.25] one ticket, by the state of its order", () => {
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

describe("[C3.6, C3.21, C3.23, C3.24] one ticket, by what it is", () => {
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

  it("[C3.23] names the limit of its validity as the clocks at the event show it", () => {
    expect(decide([match({ validFrom: noon + hour })])).toMatchObject({ explanation: "Valid from 2026-11-21 14:00." });
    expect(decide([match({ validUntil: noon - hour })])).toMatchObject({
      explanation: "Valid until 2026-11-21 12:00.",
    });
    expect(decide([match({ blocked: true })])).toMatchObject({ explanation: null });
  });

  it("[C4.35] is explained in the language of the event", () => {
    const explained = (...args: Parameters<typeof decide>) => (decide(...args) as { explanation: string }).explanation;
    const locale = "de";
    expect(explained([match({ validFrom: noon + hour })], { locale })).toBe("Gültig ab 21.11.2026, 14:00.");
    expect(explained([match({ validUntil: noon - hour })], { locale })).toBe("Gültig bis 21.11.2026, 12:00.");
    expect(explained([], { locale, isMediumElsewhere: true })).toBe(
      "Dieses Medium gehört zu einem Ticket einer anderen Veranstaltung.",
    );
    const rules = { "==": [{ var: "entries_number" }, 1] };
    expect(explained([match()], { locale, rules })).toBe("Die Zahl der Eintritte ist 0, muss aber genau 1 sein");
  });
});

describe("[C3.29] one ticket, by its earlier scans on the list", () => {
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

  it("[C3.32] an entry uploaded late does not undo the exit after it", () => {
    const verdict = decide([match({}, { presence: left })], { how: { at: noon - 2 * hour } });
    expect(verdict).toMatchObject({
      outcome: "admitted",
      presence: { version: 3, entries: 2, last: { type: "exit", at: noon - hour } },
    });
  });

  it("[C3.32] among scans of one instant the last to arrive is the newest", () => {
    const verdict = decide([match({}, { presence: left })], { how: { at: noon - hour } });
    expect(verdict).toMatchObject({ presence: { version: 3, entries: 2, last: { type: "entry", at: noon - hour } } });
  });
});

describe("[C3.30] exits", () => {
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

describe("force", () => {
  it.each([
    ["a canceled order", match({ orderStatus: "canceled" }), {}, "canceled"],
    ["a block", match({ blocked: true }), {}, "blocked"],
    ["missing approval", match({ ...pending, requireApproval: true }), {}, "unapproved"],
    ["the ticket's time", match({ validFrom: noon + hour }), {}, "invalid_time"],
    ["another product", match(), { allProducts: false }, "product"],
    ["missing payment", match(pending), {}, "unpaid"],
    ["an earlier entry", match({}, { presence: entered }), {}, "already_redeemed"],
    ["a revoked code, before anything else", match({ blocked: true }, { foundBy: "revoked" }), {}, "revoked"],
    ["unanswered questions, which are no objection", match({}, { questions: [isOfAge] }), {}, null],
    ["nothing at all", match(), {}, null],
  ] as const)("[C3.31, F3.1] overrides %s", (_name, found, on, overruled) => {
    expect(decide([found], { how: { force: true }, on })).toMatchObject({ outcome: "admitted", overruled });
  });

  it.each([
    ["an unknown code", [], "unknown_ticket"],
    ["a canceled position", [match({ canceled: true })], "unknown_ticket"],
    ["several tickets", [match({ id: 1 }), match({ id: 2 })], "ambiguous"],
  ] as const)("[C3.14, C3.15] does not help with %s", (_name, matches, expected) => {
    expect(inWord(matches, forced)).toBe(expected);
  });
});

describe("[C3.1] a nonce that has succeeded before", () => {
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

  it("returns which of several tickets was meant", () => {
    const verdict = decide([match({ id: 1 }), match({ id: 2 }, { hasNonce: true })]);
    expect(verdict).toMatchObject({ outcome: "repeated", match: { ticket: { id: 2 } } });
  });
});

describe("rules of the list", () => {
  const notNow = { isAfter: [{ var: "now" }, { buildTime: ["custom", "2026-11-21T14:00:00+00:00"] }, 0] };

  it("[C3.26] refuse an entry, and say why", () => {
    expect(decide([match()], { rules: notNow })).toMatchObject({
      outcome: "refused",
      reason: "rules",
      explanation: expect.stringContaining("15:00"),
    });
  });

  it("[C3.26] let through what is allowed", () => {
    expect(inWord([match()], { rules: notNow, how: { at: noon + 3 * hour } })).toBe("admitted");
  });

  it("[C3.26] know gate, product, variation, date and earlier scans", () => {
    const rules = (condition: unknown) => ({ rules: condition, how: { gate: 3 } });
    const known = match(
      { variation: 12 },
      {
        presence: left,
        scans: [{ type: "entry", at: noon - hour }],
        dates: { from: noon - hour, to: null, admission: null },
      },
    );
    const only = (kind: string, id: number) => ({
      inList: [{ var: kind }, { objectList: [{ lookup: [kind, String(id), "x"] }] }],
    });
    expect(inWord([known], rules(only("gate", 3)))).toBe("admitted");
    expect(inWord([known], rules(only("gate", 4)))).toBe("rules");
    expect(inWord([known], rules(only("product", 10)))).toBe("admitted");
    expect(inWord([known], rules(only("variation", 12)))).toBe("admitted");
    expect(inWord([known], rules(only("variation", 13)))).toBe("rules");
    expect(inWord([known], rules({ "<": [{ var: "entries_number" }, 1] }))).toBe("rules");
    expect(inWord([known], rules({ isAfter: [{ var: "now" }, { buildTime: ["date_from"] }, 0] }))).toBe("admitted");
  });

  it("[C3.27] that cannot be evaluated refuse every ticket, and force does not help", () => {
    const broken = { isAfter: [{ var: "now" }, { buildTime: ["custom", "2026-11-21T14:00:00"] }, 0] };
    expect(decide([match()], { rules: broken })).toMatchObject({ reason: "rules", explanation: null });
    expect(inWord([match()], { ...forced, rules: broken })).toBe("rules");
  });

  it("[C3.30] do not concern exits", () => {
    expect(inWord([match()], { ...exit, rules: notNow })).toBe("admitted");
  });
});

describe("questions", () => {
  const asking = (more: Partial<Parameters<typeof match>[1]> = {}) => match({}, { questions: [isOfAge], ...more });
  const yes = [{ question: 7, value: "true", file: null }];

  it("[C3.28] are asked before an entry", () => {
    expect(decide([asking()])).toMatchObject({ outcome: "incomplete", missing: [{ id: 7 }], given: [] });
  });

  it("[C3.28] that are answered by the scan are stored with it", () => {
    expect(decide([asking()], { how: { answers: yes } })).toMatchObject({
      outcome: "admitted",
      given: [{ question: 7, answer: { text: "True" } }],
    });
  });

  it("[C3.28] that were answered before are not asked", () => {
    const answers = new Map([[7, { text: "True", optionIdentifiers: [] }]]);
    expect(inWord([asking({ answers })])).toBe("admitted");
  });

  it("[C3.28] are not asked by scanners that cannot ask; their answers count all the same", () => {
    const how = { questionsSupported: false };
    expect(inWord([asking()], { how })).toBe("admitted");
    expect(decide([asking()], { how: { ...how, answers: yes } })).toMatchObject({ given: [{ question: 7 }] });
  });

  it.each([
    ["product", { on: { allProducts: false } }, asking()],
    ["rules", { rules: { "==": [0, 1] } }, asking()],
    ["already_redeemed", {}, asking({ presence: entered })],
  ] as const)("keep their answers where an entry is refused as %s", (reason, otherwise, found) => {
    const verdict = decide([found], { ...otherwise, how: { answers: yes } });
    expect(verdict).toMatchObject({ outcome: "refused", reason, given: [{ question: 7 }] });
  });

  it.each([
    ["canceled", { orderStatus: "canceled" }],
    ["blocked", { blocked: true }],
    ["invalid_time", { validFrom: noon + 1 }],
  ] as const)("do not keep answers for a ticket that is refused as %s", (reason, changes) => {
    const verdict = decide([match(changes, { questions: [isOfAge] })], { how: { answers: yes } });
    expect(verdict).toMatchObject({ outcome: "refused", reason, given: [] });
  });

  it("[C3.30] do not concern exits; answers of exits are not stored", () => {
    expect(decide([asking()], { how: { type: "exit", answers: yes } })).toMatchObject({
      outcome: "admitted",
      given: [],
    });
  });
});

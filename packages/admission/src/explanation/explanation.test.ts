import { setImmediate } from "node:timers/promises";
import { longestTurn } from "@tessera/testkit/longest-turn";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArrivedScan } from "../arrived-scan.ts";
import { decideScan } from "../decide-scan.ts";
import type { Circumstances } from "../objections.ts";
import { neverScanned } from "../presence.ts";
import { countValues } from "../rules/ask-rules.ts";
import { facts, rules } from "../testing/any-rules.ts";
import { arrivedScan, entered, hour, match, noon, readerOf, readers } from "../testing/decisions.ts";
import type { Match } from "../ticket.ts";
import { explainScan } from "./explain-scan.ts";
import { findAdmittingGates, findNextAdmission } from "./find-admissions.ts";

interface Setting {
  readonly scan?: Partial<ArrivedScan>;
  readonly list?: Partial<Circumstances<Match>["list"]>;
  readonly rules?: unknown;
  readonly matches?: readonly Match[];
  readonly timezone?: string;
  readonly isMediumEnforced?: boolean;
  readonly room?: { readonly limit: number; readonly inside: number };
}

function settle(setting: Setting) {
  const { scan, list, rules: json = {}, matches = [match()], timezone = "Europe/Berlin" } = setting;
  const { isMediumEnforced = false } = setting;
  const reader = readerOf(timezone, "en");
  const about: Circumstances<Match> = {
    list: {
      ...{ allProducts: true, limitProducts: [], subevent: null, includePending: false },
      ...{ allowMultipleEntries: false, allowEntryAfterExit: true, ...list },
    },
    room: setting.room ?? null,
    rules: readers.rules(JSON.stringify(json)),
    reader,
    wordingOf: () => reader.wording,
    ...{ matches, isMediumElsewhere: false, isRevoked: false, isMediumEnforced },
  };
  return { scan: arrivedScan(scan), about, rules: json };
}

function explain(setting: Setting) {
  const { scan, about, rules: json } = settle(setting);
  const verdict = decideScan(scan, about);
  return { verdict, ...explainScan(scan, { about, rules: json, verdict }) };
}

const failing = (setting: Setting) =>
  explain(setting).steps.flatMap(({ step, passed, reason, value }) =>
    passed === false ? [[step, reason, value]] : [],
  );

const rarely = fc.constantFrom(false, false, false, false, false, true);

const anyMatch = fc
  .record({
    // Most have one thing wrong: the later steps are reached, too.
    orderStatus: fc.constantFrom(...(["paid", "paid", "paid", "paid", "pending", "canceled"] as const)),
    validIfPending: fc.boolean(),
    requireApproval: fc.boolean(),
    blocked: rarely,
    canceled: rarely,
    validFrom: fc.option(fc.integer({ min: -2, max: 2 }).map((hours) => noon + hours * hour)),
    validUntil: fc.option(fc.integer({ min: -2, max: 2 }).map((hours) => noon + hours * hour)),
    item: fc.integer({ min: 1, max: 3 }),
    subevent: fc.option(fc.integer({ min: 1, max: 2 })),
  })
  .chain((ticket) =>
    fc.record({ presence: fc.constantFrom(neverScanned, entered), given: facts }).map(({ presence, given }) =>
      match(ticket, {
        presence,
        scans: given.scans,
        dates: given.dates,
        foundBy: ticket.canceled ? "medium" : "code",
      }),
    ),
  );

const anySetting = fc.record({
  scan: fc.record({
    type: fc.constantFrom("entry" as const, "entry" as const, "exit" as const),
    at: fc.oneof(
      fc.constant(noon),
      facts.map(({ at }) => at),
    ),
    gate: fc.option(fc.integer({ min: 1, max: 3 })),
    ignoreUnpaid: fc.boolean(),
  }),
  list: fc.record({
    allProducts: fc.boolean(),
    limitProducts: fc.constantFrom([1], [1, 2]),
    subevent: fc.option(fc.integer({ min: 1, max: 2 })),
    includePending: fc.boolean(),
    allowMultipleEntries: fc.boolean(),
    allowEntryAfterExit: fc.boolean(),
  }),
  rules: fc.oneof(fc.constant({}), rules),
  matches: anyMatch.map((found) => [found]),
});

describe("[E7.2] the first step that is not passed", () => {
  it("has the reason of the refusal, and an admitted scan passes all", { timeout: 120_000 }, () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(anySetting, (setting) => {
        const { verdict, steps } = explain(setting);
        const first = steps.find(({ passed }) => passed === false);
        const decided =
          verdict.outcome === "unknown_ticket" ? "invalid" : verdict.outcome === "refused" ? verdict.reason : undefined;
        expect(first?.reason).toBe(decided);
        seen.set(decided ?? "admitted", (seen.get(decided ?? "admitted") ?? 0) + 1);
      }),
      { numRuns: 10_000 },
    );
    const reasons = ["admitted", "canceled", "blocked", "unapproved", "invalid_time", "product", "unpaid", "rules"];
    for (const reason of [...reasons, "already_redeemed"]) expect(seen.get(reason), reason).toBeGreaterThan(5);
  });

  it("is followed by all that is wrong besides", () => {
    const setting = { list: { allProducts: false }, matches: [match({ blocked: true, validUntil: noon - hour })] };
    expect(failing(setting)).toEqual([
      ["blocked", "blocked", true],
      ["valid_until", "invalid_time", "2026-11-21T11:00:00Z"],
      ["product", "product", 10],
    ]);
  });

  it.each([
    [{ matches: [] }, [["code", "invalid", null]]],
    [{ matches: [match({}, { foundBy: "revoked" as const })] }, [["code", "revoked", "revoked"]]],
    [{ matches: [match({ id: 1 }), match({ id: 2 })] }, [["code", "ambiguous", "code"]]],
    [
      { matches: [match({}, { presence: entered })] },
      [["entries", "already_redeemed", { entries: 1, last: { type: "entry", datetime: "2026-11-21T11:00:00Z" } }]],
    ],
    [{ scan: { type: "exit" as const }, matches: [match({ validFrom: noon + hour }, { presence: entered })] }, []],
    [{ matches: [match({}, { hasNonce: true })] }, []],
  ])("%j", (setting, expected) => {
    expect(failing(setting)).toEqual(expected);
  });
});

describe("[E7.3] each comparison of the rules", () => {
  const at = (time: string) => ({ buildTime: ["custom", `2026-11-21T${time}:00Z`] });
  const clauses = (json: unknown, found: Partial<Match> = {}) =>
    explain({ rules: json, matches: [match({}, found)] }).clauses.map(
      ({ path, passed, value, wanted, lacks, text }) => [...[path, passed, value, wanted, lacks, text]],
    );

  it("shows its value, and how far it is from passing", () => {
    const json = {
      and: [
        { isAfter: [{ var: "now" }, at("13:30"), 10] },
        { or: [{ "<": [{ var: "entries_number" }, 3] }, { inList: [{ var: "product" }, { objectList: [] }] }] },
        { ">=": [{ var: "minutes_since_last_entry" }, 90] },
      ],
    };
    const scans = [noon - hour, noon - 2 * hour, noon - 3 * hour, noon - 4 * hour].map((time) => ({
      type: "entry" as const,
      at: time,
    }));
    expect(clauses(json, { scans })).toEqual([
      ["and[0]", false, "2026-11-21T12:00:00Z", "2026-11-21T13:30:00Z", 80 * 60, "Entry only after 14:20"],
      ["and[1].or[0]", false, 4, 3, 1, "The number of entries is 4 but must be less than 3"],
      ["and[1].or[1]", false, 10, [], null, "Tickets of this type are not let in here"],
      [...["and[2]", false, 60, 90, 30], "The number of minutes since the last entry is 60 but must be at least 90"],
    ]);
  });

  it("that cannot be evaluated has no distance", () => {
    expect(clauses({ "<": [{ var: "now" }, { buildTime: ["date_to"] }] })).toEqual([
      ["", null, "2026-11-21T12:00:00Z", null, null, "The rules of this list do not allow this entry"],
    ]);
    expect(clauses({ "<": [{ var: "entries_number" }, 3] })).toEqual([["", true, 0, 3, null, null]]);
    expect(clauses({})).toEqual([]);
  });

  it("is one of a hundred at most", () => {
    expect(clauses({ or: Array.from({ length: 300 }, () => ({ "<": [1, 0] })) })).toHaveLength(100);
  });
});

describe("[E7.4] the next admission", () => {
  const next = (setting: Setting) => {
    const { scan, about } = settle(setting);
    const at = findNextAdmission(scan, about);
    return at === undefined ? undefined : new Date(at / 1000).toISOString();
  };
  const custom = (time: string) => ({ buildTime: ["custom", time] });
  const now = { var: "now" };
  // Of the slots of other products, none is for this one; each has its own tolerance.
  const slot = (product: number, time: string, tolerance: number) => ({
    and: [
      { "==": [{ var: "product" }, product] },
      { isAfter: [now, { buildTime: ["customtime", time] }, tolerance] },
      { isBefore: [now, { buildTime: ["customtime", "10:00"] }, tolerance] },
    ],
  });
  const timetable = {
    or: [...Array.from({ length: 50 }, (_, at) => slot(900 + at, `09:${10 + at}`, at + 1)), slot(10, "09:00", 0)],
  };

  it.each([
    [{ matches: [match({ validFrom: noon + hour })] }, "2026-11-21T13:00:00.000Z"],
    [{ matches: [match({ validUntil: noon - hour })] }, undefined],
    [{ rules: { isAfter: [now, custom("2026-12-24T18:00:00Z")] } }, "2026-12-24T18:00:01.000Z"],
    [{ rules: { isAfter: [now, custom("2026-12-24T18:00:00Z"), 30] } }, "2026-12-24T17:30:01.000Z"],
    [{ rules: { isAfter: [now, { buildTime: ["customtime", "15:30"] }] } }, "2026-11-21T14:30:01.000Z"],
    [{ rules: { "==": [{ var: "now_isoweekday" }, 1] } }, "2026-11-22T23:00:00.000Z"],
    [
      { rules: { "==": [{ var: "entries_today" }, 0] }, list: { allowMultipleEntries: true } },
      "2026-11-21T23:00:00.000Z",
      [{ type: "entry" as const, at: noon - hour }],
    ],
    [
      { rules: { ">=": [{ var: "minutes_since_last_entry" }, 90] }, list: { allowMultipleEntries: true } },
      "2026-11-21T12:30:00.000Z",
      [{ type: "entry" as const, at: noon - hour }],
    ],
    [
      { rules: { ">": [{ var: "minutes_since_first_entry" }, "95"] }, list: { allowMultipleEntries: true } },
      "2026-11-21T12:36:00.000Z",
      [{ type: "entry" as const, at: noon - hour }],
    ],
    [{ rules: { isAfter: [now, custom("2026-12-24T18:00:00Z"), 1e-8] } }, "2026-12-24T18:00:00.000Z"],
    [{ rules: timetable }, "2026-11-22T08:00:01.000Z"],
    [{ rules: { "==": [{ var: "gate" }, 3] } }, undefined],
    // In summer time; the clocks go back on 25 October.
    [
      { scan: { at: Date.UTC(2026, 9, 24, 12) * 1000 }, rules: { "==": [{ var: "now_isoweekday" }, 1] } },
      "2026-10-25T23:00:00.000Z",
    ],
  ])("of %j is %s", (setting, expected, scans?: Match["scans"]) => {
    const matches = scans === undefined ? {} : { matches: [match({}, { scans })] };
    expect(next({ ...setting, ...matches })).toBe(expected);
  });

  it("is a time at which the scan is admitted, whatever the rules", { timeout: 120_000 }, () => {
    let found = 0;
    fc.assert(
      fc.property(anySetting, (setting) => {
        const { scan, about } = settle(setting);
        const at = findNextAdmission(scan, about);
        if (at === undefined) return;
        found += 1;
        expect(at).toBeGreaterThan(scan.at);
        expect(decideScan({ ...scan, at }, about).outcome).toBe("admitted");
      }),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(10);
  });
});

it("[S4.25] the longest rules, with many gates, keep others waiting for less than 50 ms", async () => {
  const lookups = Array.from({ length: 150 }, (_, id) => ({ lookup: ["gate", String(id), "x"] }));
  const counts = Array.from({ length: 600 }, (_, at) => ({ ">=": [{ var: "entries_number" }, -at] }));
  const times = Array.from({ length: 100 }, (_, day) => ({
    isAfter: [{ var: "now" }, { buildTime: ["customtime", `${String(day % 24).padStart(2, "0")}:30`] }, day],
  }));
  const json = {
    and: [{ inList: [{ var: "gate" }, { objectList: lookups }] }, { or: counts }, { "==": [1, 0] }, ...times],
  };
  const { scan, about } = settle({ rules: json });
  expect(about.rules === null ? 0 : countValues(about.rules)).toBeGreaterThan(2000);
  const work = async () => {
    findNextAdmission(scan, about);
    await setImmediate();
    findAdmittingGates(scan, { about, rules: json });
  };
  expect(await longestTurn(work, { enoughMs: 50 })).toBeLessThan(50);
});

it.each([
  ["many times of day", 600, 1],
  ["many numbers", 100, 10],
  ["many tickets", 20, 1],
])("[S4.25] rules with %s keep others waiting for less than 50 ms", async (_name, clauses, numbers) => {
  const times = Array.from({ length: clauses }, (_, at) => ({
    isAfter: [
      { var: "now" },
      { buildTime: ["customtime", `${String(at % 24).padStart(2, "0")}:${String(at % 60).padStart(2, "0")}`] },
      at,
    ],
  }));
  const counts = Array.from({ length: clauses * numbers }, (_, at) => ({ ">": [{ var: "entries_number" }, at] }));
  const scans = Array.from({ length: 50 }, (_, at) => ({ type: "entry" as const, at: noon - at * 60_000_000 }));
  const tickets = Array.from({ length: 300 }, (_, id) => match({ id: id + 1 }, { scans }));
  const { scan, about } = settle({ rules: { and: [...times, { or: counts }, { "==": [1, 0] }] }, matches: tickets });
  const work = () => Promise.resolve(findNextAdmission(scan, about));
  expect(await longestTurn(work, { enoughMs: 50 })).toBeLessThan(50);
});

it("[E7.4] gates that rules name are told where they would admit now", () => {
  const named = (id: string, name: string) => ({ lookup: ["gate", id, name] });
  const json = {
    and: [
      { inList: [{ var: "gate" }, { objectList: [named("7", "West"), named("8", "East"), named("7", "West")] }] },
      { "!=": [{ var: "gate" }, 8] },
    ],
  };
  const { scan, about } = settle({ rules: json, scan: { gate: 9 } });
  expect(findAdmittingGates(scan, { about, rules: json })).toEqual([{ id: 7, name: "West" }]);
});

import { readFileSync } from "node:fs";
import { parseInstant } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { readers, zoneOf } from "../testing/decisions.ts";
import { judgeRules, type RuleFacts } from "./judge-rules.ts";
import { readRules } from "./read-rules.ts";

/** Facts as the tables write them, whose moments people can read. */
interface WrittenFacts extends Omit<RuleFacts, "at" | "zone" | "scans" | "dates"> {
  readonly timezone: string;
  readonly at: string;
  readonly scans: readonly { readonly type: "entry" | "exit"; readonly at: string }[];
  readonly dates: Readonly<Record<keyof RuleFacts["dates"], string | null>>;
}

interface Table {
  /** The defaults of every case. */
  readonly facts: WrittenFacts;
  readonly rules?: unknown;
  readonly cases: readonly {
    readonly name: string;
    readonly facts?: Partial<WrittenFacts>;
    readonly rules?: unknown;
    readonly verdict: "allowed" | "refused" | "broken";
    readonly explanation?: string;
    /** The locale of the event; by default English. */
    readonly locale?: string;
  }[];
}

function casesOf(name: string) {
  const url = new URL(`../../test/rules/${name}.json`, import.meta.url);
  const { facts, rules, cases } = JSON.parse(readFileSync(url, "utf8")) as Table;
  return cases.map((row) => ({ rules, ...row, facts: toFacts({ ...facts, ...row.facts }) }));
}

function toFacts(written: WrittenFacts): RuleFacts {
  const { from, to, admission } = written.dates;
  return {
    ...written,
    zone: readers.zone(written.timezone),
    at: read(written.at),
    scans: written.scans.map(({ type, at }) => ({ type, at: read(at) })),
    dates: {
      from: from && read(from),
      to: to && read(to),
      admission: admission && read(admission),
    } as RuleFacts["dates"],
  };
}

function read(moment: string): number {
  const instant = parseInstant(moment);
  if (instant === undefined) throw new Error(`${moment} is no moment`);
  return instant;
}

function judge({
  rules,
  facts,
  locale = "en",
}: {
  readonly rules: unknown;
  readonly facts: RuleFacts;
  readonly locale?: string;
}) {
  const read = readRules(JSON.stringify(rules));
  if (read === null) throw new Error("nothing is ruled");
  return judgeRules(read, facts, readers.wording(locale));
}

type Case = ReturnType<typeof casesOf>[number];

function expectVerdict({ verdict, explanation, ...row }: Case) {
  const judged = judge(row);
  expect(judged.outcome).toBe(verdict);
  if (explanation !== undefined) expect(judged).toHaveProperty("explanation", explanation);
}

it.each(casesOf("and-or"))("[C4.10, C4.11] and, or: $name", expectVerdict);
it.each(casesOf("equal"))("[C4.12] == !=: $name", expectVerdict);
it.each(casesOf("less-and-more"))("[C4.13, C4.17] < <= > >=: $name", expectVerdict);
it.each(casesOf("in-list"))("[C4.14, C4.17] inList: $name", expectVerdict);
it.each(casesOf("before-and-after"))("[C4.15, C4.17] isBefore, isAfter: $name", expectVerdict);
it.each(casesOf("named-times"))("[C4.18, C4.19, C4.20] buildTime: $name", expectVerdict);
it.each(casesOf("variables"))("[C4.21, C4.22, C4.23, C4.24, C4.25] variables: $name", expectVerdict);
it.each(casesOf("entries-around-a-time"))("[C4.26] counts: $name", expectVerdict);
it.each(casesOf("daylight-saving"))("[C4.19, C4.24, C4.27] changed clocks: $name", expectVerdict);
it.each(casesOf("editor"))("[C4.32] rules of the editor: $name", expectVerdict);
it.each(casesOf("unknown-zone"))("[C4.33] an unknown time zone: $name", expectVerdict);
it.each(casesOf("explanations"))("[C4.28, C4.29, C4.30, C4.31] explanations: $name", expectVerdict);

it.each(casesOf("explanations-in-german"))("[C4.35] explanations in German: $name", expectVerdict);

it("[C4.31] puts no more failures into words than anybody reads", () => {
  const failing = { "==": [{ var: "product" }, 1] };
  const [row] = casesOf("explanations");
  if (row === undefined) throw new Error("the table is empty");
  const judged = (count: number) => judge({ rules: { and: Array(count).fill(failing) }, facts: row.facts });
  expect(judged(100)).toEqual({ outcome: "refused", explanation: "Tickets of this type are not let in here" });
  expect(judged(101)).toEqual({
    outcome: "refused",
    explanation: "Tickets of this type are not let in here, and more",
  });
});

/** How many times longer one work takes than another, by the fastest runs of each, which have no pauses in them. */
function timesLonger(work: () => void, than: () => void): number {
  const measured = Array.from({ length: 10 }, () =>
    [work, than].map((run) => {
      const start = performance.now();
      run();
      return performance.now() - start;
    }),
  );
  const [long = 0, short = 0] = [0, 1].map((which) => Math.min(...measured.map((pair) => pair[which] ?? Infinity)));
  return long / short;
}

describe("a ticket with a thousand entries", () => {
  const day = 86_400_000_000;
  const at = read("2026-11-21T18:00:00Z");
  const entered = (entries: number): RuleFacts => ({
    ...{ at, zone: zoneOf("Europe/Berlin"), item: 12, variation: 7, gate: 3 },
    scans: Array.from({ length: entries }, (_, index) => ({ type: "entry", at: at - index * 3_700_000_000 })),
    dates: { from: at - day, to: null, admission: null },
  });
  const clock = (index: number) => `${index % 24}:${String(index % 60).padStart(2, "0")}`.padStart(5, "0");
  const leaves: readonly (readonly [string, number, (index: number) => unknown])[] = [
    ["days", 1249, () => ({ "<": [{ var: "entries_days" }, 1] })],
    ["entries today", 1249, () => ({ "<": [{ var: "entries_today" }, 0] })],
    [
      "days since a moment",
      833,
      (index) => ({ "<": [{ entries_days_since: { buildTime: ["custom", stamp(index)] } }, 0] }),
    ],
    [
      "days before a time",
      833,
      (index) => ({ "<": [{ entries_days_before: { buildTime: ["customtime", clock(index)] } }, 0] }),
    ],
  ];
  const stamp = (index: number) => new Date(Date.UTC(2026, 9, 1) + index * 3_600_000).toISOString();

  it.each(leaves)("[C4.34] is judged at once by the longest rules there can be: %s", (_, count, leaf) => {
    const judged = (length: number, entries: number) => {
      const taken = readRules(JSON.stringify({ and: Array.from({ length }, (_each, index) => leaf(index)) }));
      if (taken === null) throw new Error("nothing is ruled");
      const facts = entered(entries);
      return () => expect(judgeRules(taken, facts, readers.wording("en")).outcome).toBe("refused");
    };
    // To iterate over the entries for every leaf takes a thousand times longer.
    expect(timesLonger(judged(count, 1000), judged(Math.round(count / 10), 10))).toBeLessThan(20);
  });

  it.each<[string, (length: number) => unknown]>([
    ["digits", (length) => ({ "<": [{ var: "entries_number" }, `${"1".repeat(length)}x`] })],
    ["blanks", (length) => ({ "<": [{ var: "entries_number" }, `${" ".repeat(length)}x`] })],
    ["colons", (length) => ({ isBefore: [{ var: "now" }, { buildTime: ["custom", ":".repeat(length)] }] })],
  ])("[C4.34] is judged at once by the longest text there can be: %s", (_, rulesOf) => {
    const facts = entered(1000);
    const judged = (length: number) => {
      const rules = rulesOf(length);
      return () => expect(judge({ rules, facts }).outcome).not.toBe("allowed");
    };
    // A pattern that backtracks takes a hundred times longer for ten times the text, or more.
    expect(timesLonger(judged(9900), judged(990))).toBeLessThan(20);
    judged(99_000)();
  });
});

import { readFileSync } from "node:fs";
import { parseInstant } from "@tessera/values";
import { expect, it } from "vitest";
import { judgeRules, type RuleFacts } from "./judge-rules.ts";
import { readRules } from "./read-rules.ts";

/** Facts as the tables write them, whose moments people can read. */
interface WrittenFacts extends Omit<RuleFacts, "at" | "scans" | "dates"> {
  readonly at: string;
  readonly scans: readonly { readonly type: "entry" | "exit"; readonly at: string }[];
  readonly dates: Readonly<Record<keyof RuleFacts["dates"], string | null>>;
}

interface Table {
  /** What holds for every case that says nothing else. */
  readonly facts: WrittenFacts;
  readonly rules?: unknown;
  readonly cases: readonly {
    readonly name: string;
    readonly facts?: Partial<WrittenFacts>;
    readonly rules?: unknown;
    readonly verdict: "allowed" | "refused" | "broken";
    readonly explanation?: string;
  }[];
}

function casesOf(name: string) {
  const url = new URL(`../../../test/rules/${name}.json`, import.meta.url);
  const { facts, rules, cases } = JSON.parse(readFileSync(url, "utf8")) as Table;
  return cases.map((row) => ({ rules, ...row, facts: toFacts({ ...facts, ...row.facts }) }));
}

function toFacts(written: WrittenFacts): RuleFacts {
  const { from, to, admission } = written.dates;
  return {
    ...written,
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

function judge({ rules, facts }: { readonly rules: unknown; readonly facts: RuleFacts }) {
  const read = readRules(JSON.stringify(rules));
  if (read === null) throw new Error("nothing is ruled");
  return judgeRules(read, facts);
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
it.each(casesOf("explanations"))("[C4.28, C4.29, C4.30, C4.31] explanations: $name", expectVerdict);

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

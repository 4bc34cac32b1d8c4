import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { facts, rules } from "../testing/any-rules.ts";
import { readers, zoneOf } from "../testing/decisions.ts";
import { checkRules } from "./check-rules.ts";
import { judgeRules, type RuleFacts } from "./judge-rules.ts";
import { readRules } from "./read-rules.ts";

function judge(value: unknown, about: RuleFacts) {
  const read = readRules(JSON.stringify(value));
  return read === null ? undefined : judgeRules(read, about, readers.wording("en"));
}

describe("any rules", () => {
  it("[C4.32] that were taken come to a verdict, whatever the scan", () => {
    const seen = new Set<string | undefined>();
    fc.assert(
      fc.property(rules, facts, (value, about) => {
        expect(checkRules(JSON.parse(JSON.stringify(value)))).toBeUndefined();
        const verdict = judge(value, about);
        seen.add(verdict?.outcome);
        if (verdict?.outcome === "refused") expect(verdict.explanation).toMatch(/\S/);
      }),
      { numRuns: 3000 },
    );
    expect(seen).toEqual(new Set(["allowed", "refused", "broken"]));
  });

  it("[C4.32] of any JSON are accepted, or admit no ticket", () => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), facts, (value, about) => {
        const isTaken = checkRules(value) === undefined;
        seen.add(isTaken);
        if (!isTaken) expect(judge(value, about)).toEqual({ outcome: "broken" });
      }),
      { numRuns: 1000 },
    );
    expect(seen.size).toBe(2);
  });
});

it("[C4.24, C4.26] counts are what going through the entries one by one comes to", () => {
  // Its clocks were put back a minute after midnight, so that the past date came again.
  const zone = "America/St_Johns";
  const change = Date.UTC(2008, 10, 2, 2, 31) * 1000;
  const near = fc.integer({ min: -40, max: 40 }).map((steps) => change + steps * 1_200_000_000);
  const dateOf = (at: number) =>
    new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(at / 1000);
  const datesOf = (entries: readonly number[]) => new Set(entries.map(dateOf)).size;
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(near, { maxLength: 12 }), near, (times, limit) => {
      const entries = times.toSorted((a, b) => b - a);
      const since = entries.filter((entry) => entry >= limit);
      const before = entries.filter((entry) => entry < limit);
      const time = [{ buildTime: ["date_from"] }];
      const about: RuleFacts = {
        ...{ at: change, zone: zoneOf(zone), item: 1, variation: null, gate: null },
        scans: entries.map((entry) => ({ type: "entry", at: entry })),
        dates: { from: limit, to: null, admission: null },
      };
      const counted = {
        and: [
          { "==": [{ entries_since: time }, since.length] },
          { "==": [{ entries_before: time }, before.length] },
          { "==": [{ entries_days_since: time }, datesOf(since)] },
          { "==": [{ entries_days_before: time }, datesOf(before)] },
          { "==": [{ var: "entries_days" }, datesOf(entries)] },
          { "==": [{ var: "entries_number" }, entries.length] },
        ],
      };
      expect(judge(counted, about)).toEqual({ outcome: "allowed" });
      seen.add(`${datesOf(since)}/${datesOf(before)}`);
    }),
    { numRuns: 300 },
  );
  expect(seen.size).toBeGreaterThan(4);
});

/** Not met by an entry at gate 9 with ticket type 9, two hours after another entry; it meets the last. */
const leaves = [
  { rule: { "==": [{ var: "product" }, 1] }, weight: [1000, 0], text: "Tickets of this type are not let in here" },
  { rule: { "==": [{ var: "gate" }, 1] }, weight: [500, 0], text: "Tickets like this one are not let in at this gate" },
  { rule: { "==": [{ var: "entry_status" }, "absent"] }, weight: [20, 0], text: "Already inside" },
  { rule: { "==": [{ var: "now_isoweekday" }, 5] }, weight: [212, 1], text: "Entry only on Friday" },
  { rule: { "==": [{ var: "now_isoweekday" }, 6] }, weight: [212, 2], text: "Entry only on Saturday" },
  { rule: { "!=": [{ var: "entries_number" }, 1] }, weight: [123, 0], text: "The number of entries must not be 1" },
  { rule: { "==": [{ var: "entries_number" }, 1] }, weight: null, text: "" },
] as const;

type Tree = { readonly and: readonly Tree[] } | { readonly or: readonly Tree[] } | (typeof leaves)[number];

/** Every path with its failures: the definition of the explanation, usable while paths are few. */
function waysOf(tree: Tree): (readonly (typeof leaves)[number][])[] {
  if ("or" in tree) return tree.or.flatMap(waysOf);
  if ("rule" in tree) return [tree.weight === null ? [] : [tree]];
  return tree.and.reduce<(readonly (typeof leaves)[number][])[]>(
    (ways, part) => ways.flatMap((way) => waysOf(part).map((more) => [...way, ...more])),
    [[]],
  );
}

const heaviest = (way: readonly (typeof leaves)[number][]) =>
  Math.max(...way.map(({ weight }) => (weight === null ? 0 : weight[0] * 10 + weight[1])));

function toRules(tree: Tree): unknown {
  if ("rule" in tree) return tree.rule;
  return "and" in tree ? { and: tree.and.map(toRules) } : { or: tree.or.map(toRules) };
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom(...leaves),
    fc.record({ and: fc.array(tie("tree"), { maxLength: 3 }) }),
    fc.record({ or: fc.array(tie("tree"), { maxLength: 3 }) }),
  ),
}));

it("[C4.28] a refusal is explained by the best of all ways in, however they are nested", () => {
  const at = Date.UTC(2026, 10, 19, 12) * 1000;
  const entry = { type: "entry" as const, at: at - 7_200_000_000 };
  const about: RuleFacts = {
    ...{ at, zone: zoneOf("UTC"), item: 9, variation: null, gate: 9, scans: [entry] },
    dates: { from: null, to: null, admission: null },
  };
  let explained = 0;
  fc.assert(
    fc.property(tree, (drawn) => {
      const ways = waysOf(drawn);
      fc.pre(ways.length < 2000);
      const verdict = judge(toRules(drawn), about);
      if (ways.some((way) => way.length === 0)) {
        expect(verdict).toEqual({ outcome: "allowed" });
        return;
      }
      explained += 1;
      const [best] = ways.toSorted((a, b) => heaviest(a) - heaviest(b) || a.length - b.length);
      const reasons = [...new Set(best?.map(({ text }) => text))].join(", ");
      expect(verdict).toEqual({
        outcome: "refused",
        explanation: reasons === "" ? "The rules of this list do not allow this entry" : reasons,
      });
    }),
    { numRuns: 2000 },
  );
  expect(explained).toBeGreaterThan(200);
});

import { questionDocument } from "@tessera/testkit/question-document";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { neverScanned } from "./presence.ts";
import { readQuestion } from "./questions/question.ts";
import { decide, hour, inWord, match, noon, type Otherwise } from "./testing/decisions.ts";
import type { Match, Ticket } from "./ticket.ts";

interface Reason {
  readonly reason: string;
  readonly ticket?: Partial<Ticket>;
  readonly more?: Partial<Match>;
  readonly otherwise?: Otherwise;
  /** Whether the reason refuses exits, too. */
  readonly exits: boolean;
}

/** One way to be refused for each reason, in order of precedence. All of them can be combined. */
const reasons: readonly Reason[] = [
  { reason: "canceled", ticket: { orderStatus: "expired" }, exits: true },
  { reason: "blocked", ticket: { blocked: true }, exits: true },
  { reason: "unapproved", ticket: { orderStatus: "pending", requireApproval: true }, exits: true },
  { reason: "invalid_time", ticket: { validFrom: noon + hour, validUntil: noon - hour }, exits: false },
  { reason: "product", otherwise: { on: { allProducts: false, limitProducts: [99] } }, exits: true },
  { reason: "unpaid", ticket: { orderStatus: "pending" }, exits: true },
  { reason: "rules", otherwise: { rules: { "==": [0, 1] } }, exits: false },
  { reason: "incomplete", more: { questions: [readQuestion(questionDocument(7))] }, exits: false },
  {
    reason: "already_redeemed",
    more: { presence: { version: 1, entries: 1, last: { type: "entry", at: noon - hour } } },
    exits: false,
  },
];

const some = fc.subarray([...reasons.keys()], { minLength: 0 });

/** Later reasons first, so that the state of the order is that of the earliest. */
function withAll(chosen: readonly number[], type: "entry" | "exit"): [readonly Match[], Otherwise] {
  const all = chosen.toReversed().flatMap((index) => reasons[index] ?? []);
  const ticket = Object.assign({}, ...all.map((each) => each.ticket ?? {})) as Partial<Ticket>;
  const more = Object.assign({}, ...all.map((each) => each.more ?? {})) as Partial<Match>;
  const otherwise = Object.assign({}, ...all.map((each) => each.otherwise ?? {})) as Otherwise;
  return [[match(ticket, more)], { ...otherwise, how: { type } }];
}

describe("whatever comes together", () => {
  it("the reasons are as they are alone", () => {
    for (const [index, { reason }] of reasons.entries()) expect(inWord(...withAll([index], "entry"))).toBe(reason);
  });

  it("the reason that counts is the first of the order", () => {
    fc.assert(
      fc.property(some, fc.constantFrom("entry", "exit"), (chosen, type) => {
        const standing = chosen.toSorted((a, b) => a - b).filter((index) => type === "entry" || reasons[index]?.exits);
        const [first] = standing;
        const expected = first === undefined ? "admitted" : reasons[first]?.reason;
        expect(inWord(...withAll(chosen, type))).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("[F3.1] force overrules the reason that would have counted", () => {
    fc.assert(
      fc.property(some, fc.constantFrom("entry", "exit"), (chosen, type) => {
        const [matches, otherwise] = withAll(chosen, type);
        const unforced = decide(matches, { ...otherwise, how: { ...otherwise.how, questionsSupported: false } });
        const forced = decide(matches, { ...otherwise, how: { ...otherwise.how, force: true } });
        const reason = unforced.outcome === "refused" ? unforced.reason : null;
        expect(forced).toMatchObject({ outcome: "admitted", overruled: reason });
      }),
      { numRuns: 500 },
    );
  });

  it("no ticket is inside twice, whatever is scanned in whatever order", () => {
    const step = fc.record({ type: fc.constantFrom("entry", "exit"), pause: fc.nat({ max: 2 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, allowEntryAfterExit) => {
        let presence = neverScanned;
        let inside = 0;
        let entries = 0;
        let at = noon;
        for (const { type, pause } of steps) {
          at += pause;
          const verdict = decide([match({}, { presence })], { how: { type, at }, on: { allowEntryAfterExit } });
          if (verdict.outcome !== "admitted") continue;
          presence = verdict.presence;
          inside = type === "entry" ? inside + 1 : 0;
          entries += type === "entry" ? 1 : 0;
          expect(inside).toBeLessThanOrEqual(1);
        }
        if (!allowEntryAfterExit) expect(entries).toBeLessThanOrEqual(1);
        expect(presence.entries).toBe(entries);
      }),
      { numRuns: 300 },
    );
  });
});

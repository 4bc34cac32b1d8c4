import { describe, expect, it } from "vitest";
import { momentOf, sumAdded, type Taking, takesSame } from "./voucher-uses.ts";

const use = (rest: Partial<Taking> = {}): Taking => ({ voucher: 7, counts: true, budget: "2.50", ...rest });

it("a use is another with another voucher or budget, or when it begins to count or ends, but not if a canceled one would take more", () => {
  expect(takesSame(use(), use({ budget: "2.5" }))).toBe(true);
  for (const rest of [{ voucher: 8 }, { budget: null }, { budget: "2.51" }, { counts: false }])
    expect(takesSame(use(), use(rest))).toBe(false);
  expect(takesSame(use({ counts: false }), use({ counts: false, budget: "9.00" }))).toBe(true);
});

describe("[V6.11] a use changes", () => {
  const clock = { now: 100, countedAsOf: 50 };

  it.each([
    ["when its order was placed, if it was unknown", { told: 20, last: undefined }, 20],
    ["when its shop says", { told: 40, last: 20 }, 40],
    ["now, if its shop says what was before its last change", { told: 20, last: 40 }, 100],
    ["now, if its shop names the moment of its last change", { told: 40, last: 40 }, 100],
    ["behind a last change that is yet to come", { told: 90, last: 300 }, 301],
  ])("%s", (_, change, at) => {
    expect(momentOf(change, clock)).toBe(at);
  });

  it("not before the moment of a record in the future", () => {
    expect(momentOf({ told: 90, last: 20 }, { now: 100, countedAsOf: 150 })).toBe(150);
  });
});

it("[V6.6] adds to a record what changed at its moment or later", () => {
  const moves = [
    { at: 49, before: undefined, after: use() },
    { at: 50, before: use(), after: use({ voucher: 8 }) },
    { at: 51, before: use({ voucher: 8 }), after: use({ voucher: 8, counts: false }) },
    { at: 52, before: use({ counts: false }), after: use({ voucher: 9 }) },
  ];
  const moments = new Map([
    [7, 50],
    [8, 51],
    [9, null],
  ]);
  expect([...sumAdded(moves, moments)]).toEqual([
    [7, -1],
    [8, -1],
    [9, 1],
  ]);
});

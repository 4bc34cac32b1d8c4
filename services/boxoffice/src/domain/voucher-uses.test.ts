import { describe, expect, it } from "vitest";
import { endAt, momentOf, sumAdded, type Taking, takesSame } from "./voucher-uses.ts";

const use = (rest: Partial<Taking> = {}): Taking => ({ voucher: 7, counts: true, budget: "2.50", ...rest });

it("a use is another with another voucher or budget, or when it begins to count or ends, but not if a canceled one would take more", () => {
  expect(takesSame(use(), use({ budget: "2.5" }))).toBe(true);
  for (const rest of [{ voucher: 8 }, { budget: null }, { budget: "2.51" }, { counts: false }])
    expect(takesSame(use(), use(rest))).toBe(false);
  expect(takesSame(use({ counts: false }), use({ counts: false, budget: "9.00" }))).toBe(true);
});

describe("[V6.11, V6.12] a use changes", () => {
  const clock = { now: 100, countedAsOf: 50 };
  const since = (at: number, overtakenAt: number | null = null) => ({ since: at, overtakenAt });

  it.each([
    ["when its order was placed, if it was unknown", 20, undefined, since(20)],
    ["when its shop says", 40, since(20), since(40)],
    ["now, if its shop says what was before its last change", 20, since(40), since(100, 40)],
    ["now, if its shop says another thing of that time", 30, since(90, 40), since(100, 40)],
    ["when its shop says, if that is not older than what was known", 40, since(90, 40), since(40)],
    ["when its shop says, if that is behind what was old", 95, since(90, 40), since(95)],
    ["now, if its shop names the moment of its last change", 40, since(40), since(100)],
    ["behind a last change that is yet to come", 90, since(300), since(301, 300)],
  ])("%s", (_, told, last, at) => {
    expect(momentOf({ told, last }, clock)).toEqual(at);
  });

  it("not before the moment of a record in the future", () => {
    expect(momentOf({ told: 90, last: since(20) }, { now: 100, countedAsOf: 150 })).toEqual(since(150));
  });
});

it("[V6.12] former uses end where a later one begins, and those that began behind it were none", () => {
  const former = (since: number, until: number) => ({ voucher: 7, counts: true, since, until });
  expect(endAt([former(10, 20), former(20, 40), former(40, 50)], 30)).toEqual([former(10, 20), former(20, 30)]);
});

it("[V6.6] adds to a record what changed at its moment or later", () => {
  const [from, to] = [{ since: 20 }, { since: 20, until: 50 }];
  const changes = [
    { before: [], after: [{ ...use(), since: 49 }] },
    {
      before: [{ ...use(), ...from }],
      after: [
        { ...use(), ...to },
        { ...use({ voucher: 8 }), since: 50 },
      ],
    },
    {
      before: [{ ...use({ voucher: 8 }), ...from }],
      after: [
        { ...use({ voucher: 8 }), since: 20, until: 51 },
        { ...use({ voucher: 8, counts: false }), since: 51 },
      ],
    },
    { before: [{ ...use({ counts: false }), ...from }], after: [{ ...use({ voucher: 9 }), since: 52 }] },
  ];
  const moments = new Map([
    [7, 50],
    [8, 51],
    [9, null],
  ]);
  expect([...sumAdded(changes, moments)].toSorted()).toEqual([
    [7, -1],
    [8, -1],
    [9, 1],
  ]);
});

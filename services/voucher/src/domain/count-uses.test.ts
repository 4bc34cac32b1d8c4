import { expect, it } from "vitest";
import { countOf, followUse, sumOf, type Use } from "./count-uses.ts";

it("[V6.6] a use that was sold for another amount than was reserved is contained in a record as it was sold", () => {
  const confirmed: Use = { voucher: 7, since: 7, revision: 0, counts: true, budget: "5.00" };
  const taken = { voucher: 7, counts: true, budget: "4.00" };
  const moments = { now: 9, countedAsOf: 8 };
  const { current, former } = followUse({ current: confirmed, former: [] }, { revision: 1, since: 6, taken }, moments);
  const uses = current === undefined ? former : [current, ...former];
  const record = { baseRedeemed: 1, baseBudgetUsed: "4.00" };
  expect(countOf(record, sumOf(uses, moments.countedAsOf))).toEqual({ redeemed: 1, budgetUsed: "4.00" });
});

it("[V6.12] a use that began before what was known of its position replaces that", () => {
  const taken = { voucher: 7, counts: true, budget: "0.00" };
  const known = {
    current: { ...taken, counts: false, since: 8, revision: 3 },
    former: [
      { ...taken, since: 1, until: 5 },
      { ...taken, voucher: 8, since: 5, until: 8 },
    ],
  };
  const { current, former } = followUse(
    known,
    { revision: 4, since: 3, taken: { ...taken, voucher: 9 } },
    { now: 9, countedAsOf: 0 },
  );
  expect([current, former]).toEqual([
    { ...taken, voucher: 9, since: 3, revision: 4 },
    [{ ...taken, since: 1, until: 3 }],
  ]);
});

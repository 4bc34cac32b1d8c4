import { expect, it } from "vitest";
import { countOf, followUse, sumOf, type Use } from "./count-uses.ts";

it("[V6.6] a use that was sold for another amount than was reserved is contained in a record as it was sold", () => {
  const confirmed: Use = { voucher: 7, since: 7, revision: 0, counts: true, budget: "5.00" };
  const taken = { voucher: 7, counts: true, budget: "4.00" };
  const moments = { now: 9, countedAsOf: 8 };
  const { current, former } = followUse(confirmed, { revision: 1, since: 6, taken }, moments);
  const uses = [current, former].filter((use) => use !== undefined);
  const record = { baseRedeemed: 1, baseBudgetUsed: "4.00" };
  expect(countOf(record, sumOf(uses, moments.countedAsOf))).toEqual({ redeemed: 1, budgetUsed: "4.00" });
});

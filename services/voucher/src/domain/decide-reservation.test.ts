import Big from "big.js";
import { array, assert, constantFrom, integer, option, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, catalogue, market, shopVoucher } from "../testing/market.ts";
import { decideReservation } from "./decide-reservation.ts";
import type { Answer } from "./offer-voucher.ts";

const reasonsOf = (answers: readonly Answer[]) =>
  answers.map((answer) => ("offer" in answer ? answer.offer.discount : answer.refusal.reason));

describe("a reservation", () => {
  it("[V8.1] has an answer for each use; one refusal, and nothing is held", () => {
    const { answers, held } = decideReservation([ask(), ask({ code: "TYPO" })], market([shopVoucher()]));
    expect([reasonsOf(answers), held]).toEqual([["0.00", "unknown_code"], undefined]);
  });

  it("[V8.2] leaves less to its later uses", () => {
    const voucher = shopVoucher({ priceMode: "subtract", value: "10.00", budget: "25.00", maxUsages: 3 });
    const { answers, held } = decideReservation([ask(), ask(), ask()], market([voucher]));
    expect(answers).toMatchObject([
      { offer: { price: "13.00", usesLeft: 3, budgetLeft: "25.00" } },
      { offer: { price: "13.00", usesLeft: 2, budgetLeft: "15.00" } },
      { offer: { price: "18.00", usesLeft: 1, budgetLeft: "5.00" } },
    ]);
    expect(held?.map(({ budget }) => budget)).toEqual(["10.00", "10.00", "5.00"]);
  });

  it("[V8.2] with more uses than are left is refused from there on, by others or by itself", () => {
    const voucher = shopVoucher({ maxUsages: 5, redeemed: 2, reserved: 1 });
    const { answers } = decideReservation([ask(), ask(), ask(), ask()], market([voucher]));
    expect(reasonsOf(answers)).toEqual(["0.00", "0.00", "reserved", "too_many_uses"]);
    const alone = decideReservation([ask(), ask()], market([shopVoucher()]));
    expect(alone.answers[1]).toEqual({
      refusal: { reason: "too_many_uses", sentence: "This voucher can be used only once more." },
    });
  });

  it.each([
    ["a first use of three has two", { minUsages: 3 }, 2, "too_few_uses"],
    ["a first use of three has three", { minUsages: 3 }, 3, "0.00"],
    ["one was used already", { minUsages: 3, redeemed: 1 }, 2, "0.00"],
    ["others have reserved some, which they may release", { minUsages: 3, reserved: 2 }, 2, "too_few_uses"],
    ["it has no minimum", { minUsages: 0 }, 1, "0.00"],
  ])("[V8.4] has at least as many uses as the minimum that remains: %s", (_name, changes, uses, expected) => {
    const voucher = shopVoucher({ maxUsages: 9, ...changes });
    const { answers } = decideReservation(
      Array.from({ length: uses }, () => ask()),
      market([voucher]),
    );
    expect(reasonsOf(answers)).toEqual(Array.from({ length: uses }, () => expected));
  });
});

const cents = (most: number) => integer({ min: 0, max: most }).map((amount) => new Big(amount).div(100).toFixed(2));

describe("money", () => {
  it("[V7.5, V8.2] discounts are never below zero, and together never above what is left of the budget", () => {
    const terms = record({
      priceMode: constantFrom("none", "set", "subtract", "percent"),
      value: option(
        integer({ min: -5000, max: 20_000 }).map((amount) => new Big(amount).div(100).toFixed(2)),
        { nil: null },
      ),
      budget: option(cents(10_000), { nil: null }),
      budgetUsed: cents(5000),
      reservedBudget: cents(5000),
      maxUsages: integer({ min: 0, max: 12 }),
      redeemed: integer({ min: 0, max: 6 }),
      reserved: integer({ min: 0, max: 6 }),
    });
    const prices = array(cents(20_000), { minLength: 1, maxLength: 8 });
    assert(
      property(terms, prices, constantFrom(0, 2, 3), (changes, asked, places) => {
        const voucher = shopVoucher(changes);
        const uses = asked.map((price) => ask({ price }));
        const { answers, held } = decideReservation(uses, market([voucher], { catalogue: { ...catalogue, places } }));
        const offers = answers.flatMap((answer) => ("offer" in answer ? [answer.offer] : []));
        for (const { price, priceBefore, discount } of offers) {
          expect(new Big(discount).gte(0)).toBe(true);
          expect(new Big(price).gte(0)).toBe(true);
          expect(new Big(discount).eq(0) || new Big(priceBefore).minus(discount).eq(price)).toBe(true);
        }
        const left = Math.max(0, voucher.maxUsages - voucher.redeemed) - voucher.reserved;
        expect(offers.length).toBeLessThanOrEqual(Math.max(0, left));
        expect(held === undefined).toBe(offers.length < uses.length);
        if (voucher.budget === null) return;
        const sum = offers.reduce((total, { discount }) => total.plus(discount), new Big(0));
        const budget = new Big(voucher.budget).minus(voucher.budgetUsed).minus(voucher.reservedBudget);
        expect(sum.lte(budget.lt(0) ? 0 : budget)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("[V7.4] a percentage is rounded half up, as whole cents compute it", () => {
    assert(
      property(
        integer({ min: 0, max: 100_000 }),
        integer({ min: 0, max: 100 }),
        constantFrom(0, 2),
        (amount, percent, places) => {
          const voucher = shopVoucher({ priceMode: "percent", value: `${percent}.00` });
          const price = new Big(amount).div(100).toFixed(2);
          const { answers } = decideReservation(
            [ask({ price })],
            market([voucher], { catalogue: { ...catalogue, places } }),
          );
          // Integers in ten-thousandths of the currency's smallest unit.
          const coin = places === 0 ? 100n : 1n;
          const exact = BigInt(amount) * BigInt(100 - percent);
          const rounded = ((2n * exact + 100n * coin) / (200n * coin)) * coin;
          expect(answers).toMatchObject([{ offer: { price: new Big(String(rounded)).div(100).toFixed(2) } }]);
        },
      ),
    );
  });
});

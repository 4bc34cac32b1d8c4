import { assert, constantFrom, integer, option, property, record, subarray } from "fast-check";
import { describe, expect, it } from "vitest";
import { voucherFields } from "../testing/voucher-fields.ts";
import { findRefusal, type LedgerProblemKind, type SeatTerms } from "./find-refusal.ts";

const refusalOf = (
  voucher: Partial<SeatTerms>,
  { series = false, isCodeTaken = false, kinds = [] as readonly LedgerProblemKind[] } = {},
) => findRefusal({ voucher: voucherFields(voucher), series, isCodeTaken, ledger: kinds.map((kind) => ({ kind })) });

describe("the rules about seats", () => {
  it.each<readonly [string, Partial<SeatTerms>]>([
    ["a seat", { seat: "A-1" }],
    ["a seat on a date", { seat: "A-1", subevent: 7 }],
    ["no seat, a quota and many usages", { quota: 1, maxUsages: 5, minUsages: 2 }],
    ["a seat and no usages", { seat: "A-1", maxUsages: 0, minUsages: 0 }],
  ])("allow %s", (_name, voucher) => {
    expect(refusalOf(voucher)).toBeUndefined();
  });

  it.each<readonly [string, Partial<SeatTerms>, string]>([
    ["with a quota", { seat: "A-1", quota: 1 }, "not for a quota"],
    ["with max_usages above one", { seat: "A-1", maxUsages: 2 }, "once only"],
    ["with min_usages above one", { seat: "A-1", maxUsages: 0, minUsages: 2 }, "once only"],
  ])("[V5.12, V5.13] refuse a seat %s", (_name, voucher, message) => {
    expect(refusalOf(voucher)).toContain(message);
  });

  it("[V5.11] refuse a seat without a date in a series", () => {
    expect(refusalOf({ seat: "A-1" }, { series: true })).toContain("needs a date");
    expect(refusalOf({ seat: "A-1", subevent: 7 }, { series: true })).toBeUndefined();
    expect(refusalOf({}, { series: true })).toBeUndefined();
  });
});

describe("the one message", () => {
  it("[V10.14, V5.14] is of capacity, then of the code, then of the seat", () => {
    const voucher = { seat: "A-1", quota: 1, maxUsages: 2 };
    const kinds: LedgerProblemKind[] = [
      ...(["other", "seat_of_other_item", "seat_taken", "no_such_seat", "too_little_left", "no_quota"] as const),
    ];
    const without = (...left: LedgerProblemKind[]) => kinds.filter((kind) => !left.includes(kind));
    const all = { series: true, isCodeTaken: true };
    const rest = { series: false, isCodeTaken: false };
    const seats = ["no_quota", "too_little_left", "no_such_seat", "seat_taken"] as const;
    expect(refusalOf(voucher, { ...all, kinds })).toContain("nothing to block");
    expect(refusalOf(voucher, { ...all, kinds: without("no_quota") })).toContain("not enough left");
    const noQuotas = without("no_quota", "too_little_left");
    expect(refusalOf(voucher, { ...all, kinds: noQuotas })).toContain("has this code");
    expect(refusalOf(voucher, { ...all, isCodeTaken: false, kinds: noQuotas })).toContain("needs a date");
    expect(refusalOf(voucher, { ...rest, kinds: noQuotas })).toContain("no such seat");
    expect(refusalOf(voucher, { ...rest, kinds: without("no_quota", "too_little_left", "no_such_seat") })).toContain(
      "not available",
    );
    expect(refusalOf(voucher, { ...rest, kinds: without(...seats) })).toContain("not for a quota");
    expect(refusalOf({ ...voucher, quota: null }, { ...rest, kinds: without(...seats) })).toContain("once only");
    expect(refusalOf({ seat: "A-1" }, { ...rest, kinds: without(...seats) })).toContain("another product");
    expect(refusalOf({ seat: "A-1" }, { ...rest, kinds: ["other"] })).toContain("capacity");
  });

  it("names the quota that has too little left", () => {
    const ledger = [
      { kind: "too_little_left" as const, quota: 4 },
      { kind: "too_little_left" as const, quota: 5 },
    ];
    const nothingElse = { voucher: voucherFields(), series: false, isCodeTaken: false };
    expect(findRefusal({ ...nothingElse, ledger })).toContain("quota 4");
    expect(findRefusal({ ...nothingElse, ledger: [{ kind: "too_little_left" }] })).toContain("of a quota");
  });

  it("is there whenever anything is wrong", () => {
    const kinds = subarray<LedgerProblemKind>([
      ...(["no_quota", "too_little_left", "no_such_seat", "seat_taken", "seat_of_other_item", "other"] as const),
    ]);
    const usages = integer({ min: 0, max: 3 });
    const terms = record({
      seat: option(constantFrom("A-1")),
      subevent: option(constantFrom(7)),
      quota: option(constantFrom(1)),
      maxUsages: usages,
      minUsages: usages,
    });
    const facts = record({ series: constantFrom(true, false), isCodeTaken: constantFrom(true, false), kinds });
    assert(
      property(terms, facts, (voucher, more) => {
        const isSeatWrong =
          voucher.seat !== null &&
          ((more.series && voucher.subevent === null) ||
            voucher.quota !== null ||
            voucher.maxUsages > 1 ||
            voucher.minUsages > 1);
        const isWrong = isSeatWrong || more.isCodeTaken || more.kinds.length > 0;
        expect(refusalOf(voucher, more) !== undefined).toBe(isWrong);
      }),
    );
  });
});

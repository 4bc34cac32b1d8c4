import { describe, expect, it } from "vitest";
import { computeAvailability, type QuotaLimits, type Taken, takenAs } from "./availability.ts";

const quota = (rest: Partial<QuotaLimits> = {}): QuotaLimits => ({
  size: 10,
  items: [1, 2],
  variations: [21],
  subevent: null,
  closed: false,
  ...rest,
});

const taken = (positions: number, rest: Partial<Taken> = {}): Taken => ({
  subevent: null,
  item: 1,
  variation: null,
  takenAs: "paid",
  positions,
  ...rest,
});

describe("takenAs", () => {
  it.each([
    ["p", false, "paid"],
    ["n", false, "pending"],
    ["e", false, null],
    ["c", false, null],
    ["p", true, null],
    ["n", true, null],
  ] as const)(
    "[R8.5] finds what a position of an order in state %s takes (canceled: %s)",
    (orderStatus, canceled, expected) => {
      expect(takenAs({ canceled, orderStatus })).toBe(expected);
    },
  );
});

describe("computeAvailability", () => {
  const pending = { takenAs: "pending" } as const;
  it.each([
    ["nothing taken", {}, [], { state: "available", taken: 0, left: 10 }],
    ["some taken", {}, [taken(3), taken(4, pending)], { state: "available", taken: 7, left: 3 }],
    ["all paid for", {}, [taken(10)], { state: "gone", taken: 10, left: 0 }],
    ["unpaid orders in the way", {}, [taken(9), taken(1, pending)], { state: "ordered", taken: 10, left: 0 }],
    ["overbooked by unpaid orders", {}, [taken(9), taken(4, pending)], { state: "ordered", taken: 13, left: -3 }],
    ["overbooked by paid orders", {}, [taken(11), taken(1, pending)], { state: "gone", taken: 12, left: -2 }],
    ["no size", { size: null }, [taken(99)], { state: "available", taken: 99, left: null }],
    ["a size of nothing", { size: 0 }, [], { state: "gone", taken: 0, left: 0 }],
    ["closed", { closed: true }, [taken(3)], { state: "ordered", taken: 3, left: 7 }],
    ["closed without a size", { closed: true, size: null }, [], { state: "ordered", taken: 0, left: null }],
    ["closed and gone", { closed: true }, [taken(12)], { state: "gone", taken: 12, left: -2 }],
  ] as const)("[R8.9] knows %s", (_name, rest, rows, expected) => {
    expect(computeAvailability(quota(rest), rows)).toMatchObject(expected);
  });

  it.each([
    ["vouchers beside orders", {}, [taken(3)], 4, { state: "available", taken: 7, left: 3 }],
    ["vouchers that take the rest", {}, [taken(3)], 7, { state: "reserved", taken: 10, left: 0 }],
    ["vouchers that take more than there is", {}, [taken(9, pending)], 4, { state: "reserved", taken: 13, left: -3 }],
    [
      "vouchers behind orders that take everything",
      {},
      [taken(10, pending)],
      1,
      { state: "ordered", taken: 11, left: -1 },
    ],
    ["vouchers without a size", { size: null }, [], 5, { state: "available", taken: 5, left: null }],
  ] as const)("[V4.4] knows %s", (_name, rest, rows, byVouchers, expected) => {
    expect(computeAvailability(quota(rest), rows, byVouchers)).toMatchObject(expected);
  });

  it.each([
    ["an item of it", {}, true],
    ["another item", { item: 3 }, false],
    ["a variation of it", { item: 2, variation: 21 }, true],
    ["another variation of an item of it", { item: 2, variation: 22 }, false],
    ["an item that had no variations when it was sold", { item: 2 }, true],
    ["another date", { subevent: 5 }, false],
  ] as const)("matches %s as it should", (_name, rest, matches) => {
    expect(computeAvailability(quota(), [taken(1, rest)]).taken).toBe(matches ? 1 : 0);
  });

  it("tells what positions take, by payment", () => {
    const rows = [taken(3), taken(4, pending), taken(1, { item: 2, variation: 21 }), taken(5, { item: 3 })];
    expect(computeAvailability(quota(), rows, 2)).toEqual({
      state: "reserved",
      taken: 10,
      paid: 4,
      pending: 4,
      byVouchers: 2,
      left: 0,
    });
  });

  it("[R8.8] looks at its own date alone", () => {
    const rows = [taken(1), taken(2, { subevent: 5 }), taken(4, { subevent: 6 })];
    expect(computeAvailability(quota({ subevent: 5 }), rows).taken).toBe(2);
  });
});

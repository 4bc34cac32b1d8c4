import { expect, it } from "vitest";
import { voucherFields } from "../testing/voucher-fields.ts";
import { findMismatch, type Restriction, type Wanted } from "./applies-to.ts";
import type { VoucherFields } from "./voucher.ts";

const quota = { items: new Set([10, 11]), variations: new Set([110]) };

const cases: readonly (readonly [name: string, Partial<VoucherFields>, Partial<Wanted>, boolean])[] = [
  ["for everything: any item", {}, {}, true],
  ["for everything: any variation", {}, { item: 12, variation: 5 }, true],
  ["for everything: a date and a seat", {}, { subevent: 7, seat: "A-1" }, true],
  ["for an item: this item", { item: 10 }, {}, true],
  ["for an item: any variation of it", { item: 10 }, { variation: 100 }, true],
  ["for an item: another item", { item: 10 }, { item: 11 }, false],
  ["for a variation: this variation", { item: 10, variation: 100 }, { variation: 100 }, true],
  ["for a variation: another variation", { item: 10, variation: 100 }, { variation: 101 }, false],
  ["for a variation: its item without a variation", { item: 10, variation: 100 }, {}, false],
  ["for a quota: an item of it", { quota: 1 }, { item: 10 }, true],
  ["for a quota: an item not of it", { quota: 1 }, { item: 12 }, false],
  ["for a quota: a variation of it", { quota: 1 }, { item: 11, variation: 110 }, true],
  ["for a quota: another variation of an item of it", { quota: 1 }, { item: 11, variation: 111 }, false],
  ["for a quota that is not known", { quota: 2 }, { item: 10 }, false],
  ["for a date: this date", { subevent: 7 }, { subevent: 7 }, true],
  ["for a date: another date", { subevent: 7 }, { subevent: 8 }, false],
  ["for a date: no date", { subevent: 7 }, {}, false],
  ["for an item on a date: the item on another date", { item: 10, subevent: 7 }, { subevent: 8 }, false],
  ["for a quota on a date: an item of it on another date", { quota: 1, subevent: 7 }, { subevent: 8 }, false],
  ["for a seat: this seat", { seat: "A-1" }, { seat: "A-1" }, true],
  ["for a seat: another seat", { seat: "A-1" }, { seat: "A-2" }, false],
  ["for a seat: no seat", { seat: "A-1", item: 10 }, {}, false],
];

it.each(cases)("%s", (_name, fields, wanted, expected) => {
  const voucher = voucherFields(fields);
  const bought = { item: 10, variation: null, subevent: null, seat: null, ...wanted };
  expect(findMismatch(voucher, bought, voucher.quota === 1 ? quota : undefined) === undefined).toBe(expected);
});

const restricted = { item: 10, subevent: 7, seat: "A-1" };
const mismatches: readonly (readonly [Restriction, Partial<Wanted>])[] = [
  ["product", { item: 11, subevent: 8 }],
  ["date", { subevent: 8 }],
  ["seat", { subevent: 7 }],
];

it.each(mismatches)("of several restrictions that are not met, the %s is named", (expected, wanted) => {
  const bought = { item: 10, variation: null, subevent: null, seat: null, ...wanted };
  expect(findMismatch(voucherFields(restricted), bought, undefined)).toBe(expected);
});

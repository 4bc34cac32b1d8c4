import { describe, expect, it } from "vitest";
import { voucherFields } from "../testing/voucher-fields.ts";
import { checkVoucher, type KnownItem, type VoucherChange } from "./check-voucher.ts";
import type { VoucherFields } from "./voucher.ts";

const plain: KnownItem = { hasVariations: false, isAddon: false, requiresBundling: false };

const known = {
  series: false,
  items: new Map([
    [10, plain],
    [11, { ...plain, hasVariations: true }],
    [12, { ...plain, hasVariations: true }],
    [13, { ...plain, isAddon: true, requiresBundling: true }],
    [14, { ...plain, requiresBundling: true }],
  ]),
  variations: new Map([
    [110, 11],
    [120, 12],
  ]),
  quotas: new Set([1]),
  subevents: new Set<number>(),
};

const series = { ...known, series: true, subevents: new Set([7]) };

const everyField = [
  ...["code", "max_usages", "min_usages", "valid_until", "block_quota", "allow_ignore_quota", "price_mode", "value"],
  ...["item", "variation", "quota", "seat", "tag", "comment", "subevent", "budget"],
];

const change = (fields: Partial<VoucherFields>, more: Partial<VoucherChange> = {}): VoucherChange => ({
  fields: voucherFields(fields),
  sent: new Set(everyField),
  before: undefined,
  ...more,
});

const contradiction = (message: string) => ({ non_field_errors: [expect.stringContaining(message)] });

type Case = readonly [name: string, fields: Partial<VoucherFields>, message: string];

describe("the rules between fields", () => {
  it.each<readonly [string, Partial<VoucherFields>]>([
    ["nothing: for everything", {}],
    ["an item", { item: 10 }],
    ["an item that blocks", { item: 10, blockQuota: true }],
    ["an item with variations, and none of them", { item: 11, blockQuota: true }],
    ["a variation of its item", { item: 11, variation: 110 }],
    ["a quota", { quota: 1, blockQuota: true }],
    ["a seat", { seat: "A-1" }],
    ["many usages", { maxUsages: 5, minUsages: 5 }],
  ])("[V10.13] allow %s", (_name, fields) => {
    expect(checkVoucher(change(fields), known)).toEqual({});
  });

  it.each<Case>([
    ["V10.2: quota together with an item", { quota: 1, item: 10 }, "not for both"],
    ["V10.2: quota together with a variation", { quota: 1, variation: 110 }, "not for both"],
    ["V10.2: quota together with an item and its variation", { quota: 1, item: 11, variation: 110 }, "not for both"],
    ["V10.3: item of an add-on category", { item: 13 }, "add-on"],
    ["V10.4: item that requires bundling", { item: 14 }, "part of other products"],
    ["V10.5: variation of an item without variations", { item: 10, variation: 110 }, "has no variations"],
    ["V10.6: variation of another item", { item: 11, variation: 120 }, "another product"],
    ["V10.7: block_quota without item and quota", { blockQuota: true }, "can block quota"],
    ["V10.8: variation without item and quota", { variation: 110 }, "needs the product"],
    ["V10.10: date outside of a series", { subevent: 7 }, "not a series"],
    ["V10.12: max_usages below min_usages", { maxUsages: 1, minUsages: 2 }, "`min_usages`"],
  ])("[V10.2, V10.3, V10.4, V10.5, V10.6, V10.7, V10.8, V10.10, V10.12] refuse %s", (_name, fields, message) => {
    expect(checkVoucher(change(fields), { ...known, subevents: new Set([7]) })).toEqual(contradiction(message));
  });

  it.each<Case>([
    ["V10.9: block_quota of an item without a date", { item: 10, blockQuota: true }, "needs a date"],
    ["V10.9: block_quota of a quota without a date", { quota: 1, blockQuota: true }, "needs a date"],
  ])("[V10.9] refuse in a series: %s", (_name, fields, message) => {
    expect(checkVoucher(change(fields), series)).toEqual(contradiction(message));
  });

  it.each<readonly [string, Partial<VoucherFields>]>([
    ["no date, when it does not block", { item: 10 }],
    ["a date", { item: 10, blockQuota: true, subevent: 7 }],
  ])("[V10.9] allow in a series: %s", (_name, fields) => {
    expect(checkVoucher(change(fields), series)).toEqual({});
  });

  it("[V10.11] refuse max_usages below the number of redemptions, and name the number", () => {
    const before = { code: "BEFORE", redeemed: 3 };
    expect(checkVoucher(change({ maxUsages: 2 }, { before }), known)).toEqual(contradiction("redeemed 3 times"));
    expect(checkVoucher(change({ maxUsages: 3 }, { before }), known)).toEqual({});
  });

  it("[V10.1] report the first that is broken, in the order of the contract with clients", () => {
    const steps: readonly (readonly [Partial<VoucherFields>, string])[] = [
      [{ quota: 1, item: 13, variation: 120, blockQuota: true, maxUsages: 0 }, "not for both"],
      [{ item: 13, variation: 120, blockQuota: true, maxUsages: 0 }, "add-on"],
      [{ item: 14, variation: 120, blockQuota: true, maxUsages: 0 }, "part of other products"],
      [{ item: 10, variation: 120, blockQuota: true, maxUsages: 0 }, "has no variations"],
      [{ item: 11, variation: 120, blockQuota: true, maxUsages: 0 }, "another product"],
      [{ variation: 120, blockQuota: true, maxUsages: 0 }, "can block quota"],
      [{ variation: 120, maxUsages: 0 }, "needs the product"],
      [{ item: 11, blockQuota: true, maxUsages: 0 }, "needs a date"],
      [{ item: 11, maxUsages: 0, minUsages: 2 }, "redeemed 1 times"],
      [{ item: 11, maxUsages: 1, minUsages: 2 }, "`min_usages`"],
    ];
    const before = { code: "BEFORE", redeemed: 1 };
    for (const [fields, message] of steps)
      expect(checkVoucher(change(fields, { before }), series)).toEqual(contradiction(message));
    const dated = change({ subevent: 7, maxUsages: 0 }, { before });
    expect(checkVoucher(dated, { ...series, series: false })).toEqual(contradiction("not a series"));
  });
});

describe("min_usages that was not sent", () => {
  const noUsages = { maxUsages: 0 };

  it("[V10.12] may exceed max_usages of a new voucher", () => {
    expect(checkVoucher(change(noUsages, { sent: new Set(["max_usages"]) }), known)).toEqual({});
  });

  it("[V10.12] is refused with any later change", () => {
    const later = { sent: new Set(["tag"]), before: { code: "BEFORE", redeemed: 0 } };
    expect(checkVoucher(change(noUsages, later), known)).toEqual(contradiction("`min_usages`"));
  });

  it("[V10.12] is compared with the default of max_usages when it alone was sent", () => {
    const sent = new Set(["min_usages"]);
    expect(checkVoucher(change({ minUsages: 5 }, { sent }), known)).toEqual(contradiction("`min_usages`"));
  });
});

describe("fields", () => {
  it("[V1.1] keep a code that a record brought, and take no other that is too short", () => {
    const before = { code: "CREW", redeemed: 0 };
    expect(checkVoucher(change({ code: "CREW" }, { before }), known)).toEqual({});
    expect(checkVoucher(change({ code: "TEAM" }, { before }), known)).toEqual({
      code: [expect.stringContaining("at least 5")],
    });
  });

  it("[V10.1, V10.15, V3.3] are reported all at once, and before the rules between them", () => {
    const fields = {
      code: "ABC",
      item: 99,
      variation: 999,
      quota: 9,
      subevent: 77,
      comment: "x".repeat(65_537),
      blockQuota: true,
    };
    expect(checkVoucher(change(fields), series)).toEqual({
      code: [expect.stringContaining("at least 5")],
      item: [expect.stringContaining('"99"')],
      variation: [expect.stringContaining('"999"')],
      quota: [expect.stringContaining('"9"')],
      subevent: [expect.stringContaining('"77"')],
      comment: [expect.stringContaining("65536 bytes")],
    });
  });

  it("[V10.15] that were not sent are not checked, also when what they name is gone", () => {
    const fields = { code: "ABC", item: 99, variation: 999, comment: "x".repeat(65_537) };
    const later = { sent: new Set(["tag"]), before: { code: "BEFORE", redeemed: 0 } };
    expect(checkVoucher(change(fields, later), known)).toEqual({});
  });

  it("[V1.9] comment has up to 64 KiB of UTF-8", () => {
    const errorsOf = (comment: string) => Object.keys(checkVoucher(change({ comment }), known));
    expect(errorsOf("x".repeat(65_536))).toEqual([]);
    expect(errorsOf("ä".repeat(32_768))).toEqual([]);
    expect(errorsOf("ä".repeat(32_769))).toEqual(["comment"]);
    expect(errorsOf("€".repeat(21_845))).toEqual([]);
    expect(errorsOf("€".repeat(21_846))).toEqual(["comment"]);
    expect(errorsOf("🎫".repeat(16_384))).toEqual([]);
    expect(errorsOf("🎫".repeat(16_385))).toEqual(["comment"]);
  });
});

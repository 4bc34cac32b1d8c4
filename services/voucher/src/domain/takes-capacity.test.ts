import {
  type Arbitrary,
  assert,
  boolean,
  constantFrom,
  integer,
  option,
  property,
  record,
  subarray,
  tuple,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { voucher } from "../testing/voucher-fields.ts";
import { findNeed, type TakingTerms, takenAmount } from "./takes-capacity.ts";
import type { Voucher } from "./voucher.ts";

const now = 1000;
const past = { validUntil: now };
const blocking = voucher({ item: 10, blockQuota: true, maxUsages: 5 });

describe("takenAmount", () => {
  it.each<readonly [string, Partial<Voucher>, number]>([
    ["what is left of its usages", { redeemed: 2 }, 3],
    ["nothing when it is used up", { redeemed: 5 }, 0],
    ["nothing when it was redeemed too often", { redeemed: 6 }, 0],
    ["nothing when it does not block", { blockQuota: false }, 0],
    ["nothing when it is expired", past, 0],
    ["all until it expires", { validUntil: now + 1 }, 5],
    ["the same when it may ignore quotas", { allowIgnoreQuota: true }, 5],
  ])("is %s", (_name, changes, expected) => {
    expect(takenAmount({ ...blocking, ...changes }, now)).toBe(expected);
  });
});

describe("what the ledger is asked for", () => {
  const needOf = (after: TakingTerms, before?: TakingTerms) => findNeed(after, { before, now });
  const changed = (changes: Partial<Voucher>, before: Voucher = blocking) => needOf({ ...before, ...changes }, before);

  it("[V12.2, V12.5] is all that a new voucher takes, and whether it is checked", () => {
    expect(needOf(blocking)).toEqual({
      item: 10,
      variation: null,
      quota: null,
      subevent: null,
      validUntil: null,
      usages: 5,
      isChecked: true,
      seat: null,
    });
    expect(needOf({ ...blocking, allowIgnoreQuota: true })).toMatchObject({ usages: 5, isChecked: false });
  });

  it.each<readonly [string, Partial<Voucher>]>([
    ["does not block", { blockQuota: false }],
    ["is expired", past],
  ])("[V12.1] is nothing for a new voucher that %s", (_name, changes) => {
    expect(needOf({ ...blocking, ...changes })).toBeUndefined();
  });

  it("[V4.17] is a quota for a voucher that blocks and takes nothing, unless it may ignore quotas", () => {
    const unusable = { ...blocking, maxUsages: 0 };
    expect(needOf(unusable)).toMatchObject({ usages: 0, isChecked: true });
    expect(needOf({ ...unusable, allowIgnoreQuota: true })).toBeUndefined();
    const usedUp = { ...blocking, redeemed: 5 };
    expect(changed({ item: 11 }, usedUp)).toMatchObject({ item: 11, usages: 5, isChecked: true });
    expect(changed({ comment: "y" }, usedUp)).toBeUndefined();
  });

  it.each([null, now + 2])("[V12.4] is held, but not checked, when a voucher is valid longer: %j", (validUntil) => {
    const before = { ...blocking, validUntil: now + 1 };
    expect(changed({ validUntil }, before)).toMatchObject({ usages: 5, isChecked: false, validUntil });
  });

  it("[V5.9, V5.10] is a seat with every change, whatever else the voucher takes", () => {
    const seated = voucher({ seat: "A-1", item: 10 });
    expect(needOf(seated)).toMatchObject({ usages: 0, isChecked: false, seat: "A-1" });
    expect(changed({ comment: "y" }, seated)).toMatchObject({ usages: 0, isChecked: false, seat: "A-1" });
    expect(changed({ comment: "y" }, { ...seated, redeemed: 1 })).toMatchObject({ seat: "A-1" });
    expect(changed({ blockQuota: true }, seated)).toMatchObject({ usages: 1, isChecked: true, seat: "A-1" });
    expect(changed({ comment: "y" }, { ...seated, blockQuota: true })).toMatchObject({ usages: 1, isChecked: false });
    const expired = { ...seated, blockQuota: true, ...past };
    expect(needOf(expired)).toMatchObject({ usages: 0, isChecked: false, seat: "A-1" });
    expect(changed({ seat: null }, seated)).toBeUndefined();
  });

  const fieldNames = [
    ...([
      "item",
      "variation",
      "quota",
      "subevent",
      "blockQuota",
      "allowIgnoreQuota",
      "maxUsages",
      "validUntil",
    ] as const),
  ];
  const small = integer({ min: 0, max: 3 });
  const reference = option(integer({ min: 1, max: 2 }));
  const terms: Arbitrary<TakingTerms> = record({
    item: reference,
    variation: reference,
    quota: reference,
    subevent: reference,
    seat: constantFrom(null),
    blockQuota: boolean(),
    allowIgnoreQuota: boolean(),
    maxUsages: small,
    redeemed: small,
    validUntil: option(constantFrom(now - 1, now, now + 1, now + 2)),
  });
  const changes = tuple(terms, terms, subarray([...fieldNames])).map(([before, sent, names]) => ({
    before,
    after: { ...before, ...Object.fromEntries(names.map((name) => [name, sent[name]])) },
  }));
  const selectionOf = ({ item, variation, quota, subevent }: TakingTerms) => [item, variation, quota, subevent];

  it("[V12.2, V12.3, V12.4, V12.6] covers every moment and quota at which a voucher takes more than before", () => {
    assert(
      property(changes, ({ before, after }) => {
        const sameQuotas = String(selectionOf(after)) === String(selectionOf(before));
        const takesMore = [now, now + 1, now + 2, now + 3].some(
          (at) => takenAmount(after, at) > (sameQuotas ? takenAmount(before, at) : 0),
        );
        const need = needOf(after, before);
        if (takesMore) expect(need?.usages).toBe(after.maxUsages);
        else expect(takenAmount(after, now) === 0 || need === undefined).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it("[V12.5] is checked for whatever it takes more now, unless the voucher may ignore quotas", () => {
    assert(
      property(changes, ({ before, after }) => {
        const need = needOf(after, before);
        if (need === undefined || takenAmount(after, now) === 0) return;
        const sameQuotas = String(selectionOf(after)) === String(selectionOf(before));
        const takesMoreNow = takenAmount(after, now) > (sameQuotas ? takenAmount(before, now) : 0);
        expect(need.isChecked).toBe(takesMoreNow && !after.allowIgnoreQuota);
      }),
      { numRuns: 3000 },
    );
  });

  it("is for a new voucher what it takes, and nothing if it takes nothing", () => {
    assert(
      property(terms, (after) => {
        if (takenAmount(after, now) > 0) expect(needOf(after)?.usages).toBe(after.maxUsages);
        else expect(needOf(after) === undefined || after.blockQuota).toBe(true);
      }),
    );
  });
});

import { compileSchema } from "@tessera/schema/schema";
import { describe, expect, it } from "vitest";
import { voucher, voucherRecord } from "./voucher.ts";

const defaults = {
  max_usages: 1,
  min_usages: 1,
  valid_until: null,
  block_quota: false,
  allow_ignore_quota: false,
  price_mode: "none",
  value: null,
  item: null,
  variation: null,
  quota: null,
  seat: null,
  tag: "",
  comment: "",
  subevent: null,
  show_hidden_items: true,
  all_addons_included: false,
  all_bundles_included: false,
  budget: null,
};

describe("what an organizer sets", () => {
  const check = compileSchema(voucher);
  const problemsOf = (body: object) => {
    const checked = check(body);
    return checked.ok ? [] : Object.keys(checked.errors);
  };

  it("has no required field, and a code only if one was sent", () => {
    expect(check({})).toEqual({ ok: true, value: defaults });
  });

  it.each([
    ["a short code after trimming", "code", " ABCD "],
    ["a long code", "code", "X".repeat(256)],
    ["no code", "code", null],
    ["a blank code", "code", ""],
    ["negative usages", "max_usages", -1],
    ["usages beyond 31 bits", "min_usages", 2_147_483_648],
    ["a day that is none", "valid_until", "2026-02-30"],
    ["null for a flag", "block_quota", null],
    ["another price mode", "price_mode", "free"],
    ["no price mode", "price_mode", null],
    ["three places", "value", "1.001"],
    ["more than 13 digits", "budget", "123456789012.00"],
    ["a blank seat", "seat", ""],
    ["a long tag", "tag", "x".repeat(256)],
    ["a comment above 64 KiB", "comment", "x".repeat(65_537)],
    ["null for a comment", "comment", null],
  ])("refuses %s", (_name, field, value) => {
    expect(problemsOf({ [field]: value })).toEqual([field]);
  });

  it.each([
    ["no usages", { max_usages: 0 }],
    ["usages up to 31 bits", { max_usages: 2_147_483_647 }],
    ["negative amounts", { value: "-1.00", budget: "-2.00" }],
    ["more than all", { price_mode: "percent", value: "150.00" }],
    ["a comment of 64 KiB", { comment: "x".repeat(65_536) }],
  ])("accepts %s", (_name, body) => {
    expect(check({ ...body })).toEqual({ ok: true, value: { ...defaults, ...body } });
  });
});

describe("a record", () => {
  const check = compileSchema(voucherRecord);

  it("has an id and a code, and was not redeemed unless it says so", () => {
    expect(check({ id: 7, code: "OLD" })).toEqual({
      ok: true,
      value: { ...defaults, id: 7, code: "OLD", redeemed: 0, budget_used: "0.00" },
    });
    expect(check({})).toMatchObject({ ok: false, errors: { id: [expect.anything()], code: [expect.anything()] } });
  });

  it("has counts, and the moments at which they held and it was made", () => {
    const counts = { redeemed: 3, budget_used: "12.5", as_of: "1970-01-01T00:00:01Z", created: null };
    expect(check({ id: 7, code: "SUMMER", ...counts })).toMatchObject({
      ok: true,
      value: { redeemed: 3, budget_used: "12.50", as_of: 1_000_000, created: null },
    });
  });
});

import { describe, expect, it } from "vitest";
import { readGrants } from "./read-grants.ts";

const read = (claim: unknown) => Object.fromEntries(readGrants(claim));

describe("the claim of an account", () => {
  it("[P4.4] names organizers, whose orders it reads, and permissions", () => {
    expect(read(["fest", "expo:event.vouchers:read", "expo:event.orders:write", "fest:event.orders:checkin"])).toEqual({
      fest: ["event.orders:checkin", "event.orders:read"],
      expo: ["event.orders:write", "event.vouchers:read"],
    });
    expect(read("fest")).toEqual({ fest: ["event.orders:read"] });
  });

  it.each([
    ["nothing", undefined],
    ["something else", { fest: true }],
    ["a number", [7]],
    ["every permission", ["fest:*"]],
    ["records", ["fest:organizer.records:write"]],
    ["an unknown permission", ["fest:event.orders", "fest:"]],
    ["no slug", ["", ":event.orders:read", "a/b", "a b"]],
  ])("[P4.4] that says %s opens nothing", (_what, claim) => {
    expect(read(claim)).toEqual({});
  });
});

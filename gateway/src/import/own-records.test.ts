import { describe, expect, it } from "vitest";
import { findNotOwn, findOperatorKey, type RecordSender } from "./own-records.ts";

const everything: RecordSender = { organizer: "mill", permissions: new Set(["*"]), events: undefined };
const shop: RecordSender = {
  ...everything,
  permissions: new Set(["organizer.records:write", "event.orders:read", "event.orders:write"]),
};
const ofNight: RecordSender = { ...shop, events: new Set(["night"]) };

function judge(
  sender: RecordSender,
  kind: string,
  { data = {}, deleted = false, ...place }: Record<string, unknown> = {},
) {
  const { organizer = "mill", event = "" } = place as { organizer?: string; event?: string };
  const bytes = Buffer.from(JSON.stringify(data));
  const record = { line: 1, kind, organizer, event, deleted: deleted === true, data: bytes };
  const errors = findNotOwn(record, sender);
  return errors === undefined ? "taken" : Object.keys(errors).join();
}

describe("[R1.34] an API key", () => {
  it.each([
    ["an order of its organizer", shop, "order", { event: "night" }, "taken"],
    ["its organizer", shop, "organizer", {}, "taken"],
    ["an event", shop, "event", { event: "day" }, "taken"],
    ["an order of another organizer", everything, "order", { organizer: "river", event: "night" }, "organizer"],
    ["another organizer", everything, "organizer", { organizer: "river" }, "organizer"],
    ["the end of its organizer", everything, "organizer", { deleted: true }, "deleted"],
    ["an order of its event", ofNight, "order", { event: "night" }, "taken"],
    ["its event", ofNight, "event", { event: "night" }, "taken"],
    ["an order of an event that it is not for", ofNight, "order", { event: "day" }, "event"],
    ["an event that it is not for", ofNight, "event", { event: "day" }, "event"],
    ["a gate, for all events", ofNight, "gate", {}, "kind"],
    ["a medium, for all events", ofNight, "reusable_medium", {}, "kind"],
    ["its organizer, for one event", ofNight, "organizer", {}, "kind"],
  ] as const)("brings, or not: %s", (_name, sender, kind, place, expected) => {
    expect(judge(sender, kind, place)).toBe(expected);
  });

  it.each([
    [shop, ["event.orders:read"], "taken"],
    [shop, ["can_view_orders", "can_change_orders"], "taken"],
    [shop, ["event.orders:read", "event.vouchers:read"], "permissions"],
    [shop, ["can_change_vouchers"], "permissions"],
    [shop, ["*"], "permissions"],
    [everything, ["*"], "taken"],
    [everything, ["event.vouchers:read"], "taken"],
    [shop, "*", "taken"],
    [shop, [7, null], "taken"],
  ])("gives another key no more than it has (%#)", (sender, permissions, expected) => {
    expect(judge(sender, "api_key", { data: { permissions } })).toBe(expected);
  });

  it("ends a key whatever that may do, and brings a device only if it may do all that devices may", () => {
    expect(judge(shop, "api_key", { data: { permissions: ["*"] }, deleted: true })).toBe("taken");
    expect(judge(shop, "device")).toBe("kind");
    expect(judge(shop, "device", { deleted: true })).toBe("taken");
    expect(judge(everything, "device")).toBe("taken");
    const withVouchers = { ...shop, permissions: new Set([...shop.permissions, "event.vouchers:read"]) };
    expect(judge(withVouchers, "device")).toBe("taken");
  });
});

it("[R1.36] no sender brings a credential whose token is the key of the operator", () => {
  const judge = (kind: string, data: object, { deleted = false } = {}) =>
    findOperatorKey(
      { line: 1, kind, organizer: "mill", event: "", deleted, data: Buffer.from(JSON.stringify(data)) },
      (token) => token === "of-the-operator",
    );
  const refused = { token: [expect.stringContaining("key of the operator")] };
  expect(judge("api_key", { token: "of-the-operator" })).toEqual(refused);
  expect(judge("device", { token: "of-the-operator" })).toEqual(refused);
  for (const data of [{ token: "of-a-shop" }, { token: null }, { token: 7 }, {}])
    expect(judge("api_key", data)).toBeUndefined();
  expect(judge("api_key", { token: "of-the-operator" }, { deleted: true })).toBeUndefined();
  expect(judge("gate", { token: "of-the-operator" })).toBeUndefined();
});

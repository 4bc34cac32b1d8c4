import { describe, expect, it } from "vitest";
import { isPermission, resolvePermissions } from "./permission.ts";

describe("permissions", () => {
  it("keeps current names and translates classic ones, each once", () => {
    expect(resolvePermissions(["can_view_orders", "event.orders:write", "event.orders:read"])).toEqual([
      "event.orders:read",
      "event.orders:write",
    ]);
    expect(resolvePermissions(["can_manage_gift_cards"])).toEqual([
      "organizer.giftcards:read",
      "organizer.giftcards:write",
    ]);
  });

  it("does not give more than a classic name says", () => {
    expect(resolvePermissions(["can_change_orders"])).toEqual(["event.orders:write"]);
  });

  it("[R3.6] lets * stand for everything", () => {
    expect(resolvePermissions(["event.orders:read", "*"])).toEqual(["*"]);
  });

  it.each(["*", "event.orders:checkin", "can_checkin_orders", "can_change_event_settings"])("knows %s", (name) => {
    expect(isPermission(name)).toBe(true);
  });

  it.each(["", "event.orders", "EVENT.ORDERS:READ", "can_fly", "constructor", "*:*"])(
    "[R3.6] does not know %j",
    (name) => {
      expect(isPermission(name)).toBe(false);
    },
  );
});

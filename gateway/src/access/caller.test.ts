import { permissions } from "@tessera/values";
import { describe, expect, it } from "vitest";
import type { Credential } from "../store/credentials.ts";
import { holds, operator, toCaller } from "./caller.ts";
import { hasEventAccess } from "./may-use.ts";

const credential = (overrides: Partial<Credential>): Credential => ({
  organizer: "bigevents",
  kind: "api_key",
  id: "1",
  name: "A key",
  tokenHash: Buffer.alloc(32),
  permissions: [],
  allEvents: true,
  events: [],
  active: true,
  device: null,
  ...overrides,
});

describe("a key", () => {
  it("[A2.2] enters all events of its organizer", () => {
    const caller = toCaller(credential({}));
    expect(hasEventAccess(caller, "bigevents", "sampleconf")).toBe(true);
    expect(hasEventAccess(caller, "bigevents", "other")).toBe(true);
    expect(hasEventAccess(caller, "somebody", "sampleconf")).toBe(false);
  });

  it("[A2.2] enters the events that it names, and those of its own organizer alone", () => {
    const caller = toCaller(credential({ allEvents: false, events: ["sampleconf"] }));
    expect(hasEventAccess(caller, "bigevents", "sampleconf")).toBe(true);
    expect(hasEventAccess(caller, "bigevents", "other")).toBe(false);
    expect(hasEventAccess(caller, "somebody", "sampleconf")).toBe(false);
    expect(hasEventAccess(operator, "bigevents", "sampleconf")).toBe(false);
  });
});

describe("a device", () => {
  it("[A2.9, S3.3] holds the permissions of devices, whatever is recorded of it", () => {
    const device = { deviceId: 3, gate: null, securityProfile: "full", softwareBrand: "" };
    for (const recorded of [[], ["*"], ["event.settings.general:write", "event.vouchers:write"]]) {
      const caller = toCaller(credential({ kind: "device", permissions: recorded, device }));
      expect(permissions.filter((permission) => holds(caller, permission))).toEqual([
        "event.orders:read",
        "event.orders:write",
        "event.vouchers:read",
      ]);
    }
  });

  it("[S5.7] is another caller once it stands in public, and is not repeated what it was answered before", () => {
    const named = (securityProfile: string) =>
      toCaller(credential({ kind: "device", device: { deviceId: 3, gate: null, securityProfile, softwareBrand: "" } }));
    expect(named("full").countedAs).toBe(named("pretixscan").countedAs);
    expect(named("pretixscan_online_kiosk").countedAs).not.toBe(named("full").countedAs);
  });
});

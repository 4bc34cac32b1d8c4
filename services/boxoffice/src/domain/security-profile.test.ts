import { expect, it } from "vitest";
import { resolveSecurityProfile } from "./security-profile.ts";

it.each([
  ["full", "full"],
  [null, "full"],
  ["pretixscan_online_kiosk", "pretixscan_online_kiosk"],
  ["pretixscan_online_noorders", "pretixscan_online_noorders"],
  ["pretixpos", "pretixscan"],
  ["Full", "pretixscan"],
  ["", "pretixscan"],
])("[R3.11] takes the profile %j for %s", (name, profile) => {
  expect(resolveSecurityProfile(name)).toBe(profile);
});

import { expect, it } from "vitest";
import { deviceProfileOf, standsInPublic } from "./device-profile.ts";

it.each([
  ["full", "full"],
  [null, "full"],
  ["pretixscan_online_kiosk", "pretixscan_online_kiosk"],
  ["pretixscan_online_noorders", "pretixscan_online_noorders"],
  ["pretixpos", "pretixscan"],
  ["Full", "pretixscan"],
  ["", "pretixscan"],
  ["something-new", "pretixscan"],
  ["constructor", "pretixscan"],
])("[A2.14, R3.11] takes the profile %j for %s", (name, profile) => {
  expect(deviceProfileOf(name)).toBe(profile);
});

it("a kiosk alone stands in public", () => {
  const profiles = ["full", "pretixscan", "pretixscan_online_noorders", "pretixscan_online_kiosk"] as const;
  expect(profiles.filter(standsInPublic)).toEqual(["pretixscan_online_kiosk"]);
});

import { expect, it } from "vitest";
import type { GateMinute } from "./live.ts";
import { fillHour } from "./minutes.ts";

const minute = (at: string, gate: number | null, entries: number): GateMinute => ({
  ...{ at, gate, entries, exits: 1, refused: 2 },
});
const minutes = [
  minute("2026-10-25T00:00:00Z", 1, 100),
  minute("2026-10-25T00:58:00Z", 1, 3),
  minute("2026-10-25T00:58:00Z", null, 4),
  minute("2026-10-25T01:00:00Z", 1, 9),
];
const hour = { at: "2026-10-25T01:00:20Z", minutes };

it("[B3.3] the hour has each minute once, and not the one that is not over, also where clocks are set back", () => {
  const { at, entries, exits, refused } = fillHour(hour);
  expect(at).toHaveLength(59);
  expect(at.every((each, index) => index === 0 || each - (at[index - 1] ?? 0) === 60)).toBe(true);
  expect(at.at(-1)).toBe(Date.parse("2026-10-25T00:59:00Z") / 1000);
  expect([entries.at(-2), exits.at(-2), refused.at(-2)]).toEqual([7, 2, 4]);
  expect(entries.reduce((sum, each) => sum + each, 0)).toBe(7);
});

it("[B3.3] the hour of a gate has its scans alone", () => {
  expect(fillHour(hour, 1).entries.at(-2)).toBe(3);
  expect(fillHour(hour, null).entries.at(-2)).toBe(4);
});

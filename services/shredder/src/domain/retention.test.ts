import { parseInstant } from "@tessera/values";
import { expect, it } from "vitest";
import { announce, endsBefore, stateOf } from "./retention.ts";

const at = (text: string) => parseInstant(text) ?? Number.NaN;
const day = 86_400_000_000;
const now = at("2026-05-01T12:00:00Z");
const old = { endedAt: at("2025-01-01T20:00:00Z"), timeZone: "UTC" };

/** When an event is erased whose end was announced long ago. */
function dueAt(end: string, { days, timeZone }: { days: number; timeZone: string }) {
  const endedAt = at(end);
  const late = endedAt + 5000 * day;
  return announce({ endedAt, timeZone }, { days, now: late, known: { endedAt, announcedAt: 0 } })?.dueAt;
}

it.each([
  ["in summer, after a winter", "2026-03-01T21:00:00Z", 60, "Europe/Berlin", "2026-04-30T20:00:00Z"],
  ["in winter, after a summer", "2026-10-01T20:00:00Z", 60, "Europe/Berlin", "2026-11-30T21:00:00Z"],
  ["across two changes", "2026-03-01T21:00:00Z", 365, "Europe/Berlin", "2027-03-01T21:00:00Z"],
  ["in a zone without changes", "2026-03-01T21:00:00Z", 60, "UTC", "2026-04-30T21:00:00Z"],
  ["at a time that the clocks skip", "2026-03-28T01:30:00Z", 1, "Europe/Berlin", "2026-03-29T01:30:00Z"],
  ["at a time that comes twice", "2026-10-24T00:30:00Z", 1, "Europe/Berlin", "2026-10-25T00:30:00Z"],
  ["at once", "2026-03-01T21:00:00Z", 0, "Europe/Berlin", "2026-03-01T21:00:00Z"],
])("[D9.4] an event is due at the same local time %s", (_name, end, days, timeZone, expected) => {
  expect(dueAt(end, { days, timeZone })).toBe(at(expected));
});

it("[D9.3] an erasure that is late is announced for a week first", () => {
  expect(announce(old, { days: 90, now, known: undefined })).toEqual({
    ...{ endedAt: old.endedAt, announcedAt: now, dueAt: now + 7 * day },
  });
});

it("[D9.3] an erasure stays as it was announced, until its event ends at another time", () => {
  const known = { endedAt: old.endedAt, announcedAt: now - 3 * day };
  expect(announce(old, { days: 90, now, known })?.dueAt).toBe(now + 4 * day);
  const moved = { ...old, endedAt: old.endedAt + 1 };
  expect(announce(moved, { days: 90, now, known })?.dueAt).toBe(now + 7 * day);
});

it("[D9.3] an erasure is known eight days before it is due, and no sooner", () => {
  const endedAt = now - 90 * day;
  const ends = (ahead: number) =>
    announce({ endedAt: endedAt + ahead, timeZone: "UTC" }, { days: 90, now, known: undefined });
  expect(ends(8 * day)?.dueAt).toBe(now + 8 * day);
  expect(ends(8 * day + 1)).toBeUndefined();
});

it.each([0, 90, 3650])("[D9.3] no event that is to be announced is left out with %i days", (days) => {
  for (const timeZone of ["UTC", "Europe/Berlin", "Pacific/Apia", "Pacific/Kiritimati"]) {
    const before = endsBefore({ days, now });
    expect(announce({ endedAt: before, timeZone }, { days, now, known: undefined })).toBeUndefined();
  }
});

const progress = { dueAt: now + 1, problem: null, export: null, case: null };

it.each([
  ["announced", progress],
  ["due", { ...progress, dueAt: now }],
  ["blocked", { ...progress, problem: "It is online." }],
  ["exporting", { ...progress, export: "x", problem: "It is online." }],
  ["erasing", { ...progress, export: "x", case: "y" }],
] as const)("[D9.5] an erasure is %s", (state, of) => {
  expect(stateOf(of, { now })).toBe(state);
});

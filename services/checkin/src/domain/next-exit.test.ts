import { zoneOf } from "@tessera/admission/testing/decisions";
import { formatInstant, parseInstant } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { type AutomaticExit, nextExit } from "./next-exit.ts";

const at = (text: string): number => {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error(`${text} is no instant`);
  return instant;
};

/** The days that follow an exit, one by one. */
const daysAfter = (first: string, zone: string, days: number): string[] => {
  let exit: AutomaticExit = { at: at(first), local: null };
  return Array.from({ length: days }, () => {
    exit = nextExit(exit, { zone: zoneOf(zone), notBefore: exit.at });
    return formatInstant(exit.at);
  });
};

describe("nextExit", () => {
  it.each([
    ["any night", "Europe/Berlin", "2026-06-01T02:00:00.000001Z", ["2026-06-02T02:00:00.000001Z"]],
    [
      "02:30 when clocks skip it",
      "Europe/Berlin",
      "2026-03-27T01:30:00Z",
      ["2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"],
    ],
    [
      "04:00 when clocks were put forward",
      "Europe/Berlin",
      "2026-03-28T03:00:00Z",
      ["2026-03-29T02:00:00Z", "2026-03-30T02:00:00Z"],
    ],
    [
      "02:30 when it comes twice",
      "Europe/Berlin",
      "2026-10-24T00:30:00Z",
      ["2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"],
    ],
    ["02:30, set to the first of two", "Europe/Berlin", "2026-10-25T00:30:00Z", ["2026-10-26T01:30:00Z"]],
    [
      "02:30 when clocks skip it",
      "America/New_York",
      "2026-03-07T07:30:00Z",
      ["2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z", "2026-03-10T06:30:00Z"],
    ],
    [
      "01:30 when it comes twice",
      "America/New_York",
      "2026-10-31T05:30:00Z",
      ["2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"],
    ],
    [
      "02:15 when clocks skip half an hour",
      "Australia/Lord_Howe",
      "2026-10-02T15:45:00Z",
      ["2026-10-03T16:15:00Z", "2026-10-04T15:15:00Z", "2026-10-05T15:15:00Z"],
    ],
    [
      "02:30 when clocks skip up to it",
      "Australia/Lord_Howe",
      "2026-10-02T16:00:00Z",
      ["2026-10-03T15:30:00Z", "2026-10-04T15:30:00Z"],
    ],
    [
      "01:45 when it comes twice",
      "Australia/Lord_Howe",
      "2026-04-03T14:45:00Z",
      ["2026-04-04T15:15:00Z", "2026-04-05T15:15:00Z"],
    ],
    [
      "midnight when clocks skip it",
      "Africa/Cairo",
      "2026-04-22T22:00:00Z",
      ["2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"],
    ],
    ["a time of a day that never was", "Pacific/Apia", "2011-12-29T22:00:00Z", ["2011-12-30T23:00:00Z"]],
  ])("[C7.5, C7.7, C7.8] comes the next day at the same local time: %s in %s", (_name, zone, first, following) => {
    expect(daysAfter(first, zone, following.length)).toEqual(following);
  });

  it("forgets the local time that was skipped where another instant was set", () => {
    const zone = zoneOf("Europe/Berlin");
    const skipped = nextExit({ at: at("2026-03-28T01:30:00Z"), local: null }, { zone, notBefore: 0 });
    const set = { ...skipped, at: at("2026-03-29T03:00:00Z") };
    expect(formatInstant(nextExit(set, { zone, notBefore: 0 }).at)).toBe("2026-03-30T03:00:00Z");
    // The event has moved to another place.
    expect(formatInstant(nextExit(skipped, { zone: zoneOf("UTC"), notBefore: 0 }).at)).toBe("2026-03-30T01:30:00Z");
  });

  it.each([
    ["the same day, before its time", "2026-11-21T00:59:59.999999Z", "2026-11-21T01:00:00Z"],
    ["the very moment", "2026-11-21T01:00:00Z", "2026-11-22T01:00:00Z"],
    ["the same day, behind its time", "2026-11-21T12:00:00Z", "2026-11-22T01:00:00Z"],
    ["the first of two hours, whose second counts", "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z"],
    ["the day before", "2026-10-20T00:00:00Z", "2026-10-24T00:00:00Z"],
  ])("skips to the first day after %s", (_name, notBefore, expected) => {
    const exit = { at: at("2026-10-23T00:00:00Z"), local: null };
    expect(formatInstant(nextExit(exit, { zone: zoneOf("Europe/Berlin"), notBefore: at(notBefore) }).at)).toBe(
      expected,
    );
  });

  it("goes from the year 1 to today without counting the days", () => {
    const exit = { at: at("0001-01-01T04:00:00Z"), local: null };
    const { at: next } = nextExit(exit, { zone: zoneOf("UTC"), notBefore: at("2026-11-21T12:00:00Z") });
    expect(formatInstant(next)).toBe("2026-11-22T04:00:00Z");
  });
});

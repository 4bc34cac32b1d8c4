import { expect, it } from "vitest";
import { dayAfter, isDate } from "./report.ts";

it("[B5.2] goes from day to day, over ends of months and leap days", () => {
  expect(dayAfter("2028-02-28", 1)).toBe("2028-02-29");
  expect(dayAfter("2027-03-01", -1)).toBe("2027-02-28");
  expect(dayAfter("2026-12-31", 1)).toBe("2027-01-01");
});

it("[B5.2] takes dates of the calendar alone from an address", () => {
  expect(["2028-02-29", "2027-02-29", "2027-02-30", "2027-13-01", "abc", "", "2027-5-1"].filter(isDate)).toEqual([
    "2028-02-29",
  ]);
});

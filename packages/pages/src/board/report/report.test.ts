import { expect, it } from "vitest";
import { busyQuarters, dayAfter, isDate, namedHours, type Quarter } from "./report.ts";

const quarter = (index: number, entries = 0): Quarter => ({
  start: new Date(Date.UTC(2027, 4, 12) + index * 900_000).toISOString(),
  local: `${String(Math.floor(index / 4)).padStart(2, "0")}:${String((index % 4) * 15).padStart(2, "0")}`,
  ...{ entries, exits: 0, refusals: 0, inside: 0 },
});

it("[B5.3] shows the hours with scans, and one before and after them", () => {
  const day = Array.from({ length: 96 }, (_, index) => quarter(index, index === 40 || index === 50 ? 3 : 0));
  const shown = busyQuarters(day);
  expect([shown[0]?.local, shown.at(-1)?.local]).toEqual(["09:00", "13:30"]);
  expect(busyQuarters(day.slice(0, 40))).toHaveLength(40);
  expect(busyQuarters([quarter(0, 1)])).toHaveLength(1);
});

it("[B5.3] names at most seven full hours, evenly", () => {
  expect(namedHours(Array.from({ length: 96 }, (_, index) => quarter(index))).map(({ local }) => local)).toEqual([
    "00:00",
    "04:00",
    "08:00",
    "12:00",
    "16:00",
    "20:00",
  ]);
  expect(namedHours([quarter(1), quarter(4)])).toEqual([{ local: "01:00", index: 1 }]);
  expect(namedHours([])).toEqual([]);
});

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

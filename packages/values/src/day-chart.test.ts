import { expect, it } from "vitest";
import { busyQuarters, namedHours } from "./day-chart.ts";

const quarter = (index: number, entries = 0) => ({
  local: `${String(Math.floor(index / 4)).padStart(2, "0")}:${String((index % 4) * 15).padStart(2, "0")}`,
  ...{ entries, exits: 0, refusals: 0 },
});

it("[B5.3] shows the hours with scans, and one before and after them", () => {
  const day = Array.from({ length: 96 }, (_, index) => quarter(index, index === 40 || index === 50 ? 3 : 0));
  const shown = busyQuarters(day, (each) => each);
  expect([shown[0]?.local, shown.at(-1)?.local]).toEqual(["09:00", "13:30"]);
  expect(busyQuarters(day.slice(0, 40), (each) => each)).toHaveLength(40);
  expect(busyQuarters([quarter(0, 1)], (each) => each)).toHaveLength(1);
});

it("[B5.3] names at most seven full hours, evenly", () => {
  expect(
    namedHours(
      Array.from({ length: 96 }, (_, index) => quarter(index)),
      { most: 7 },
    ).map(({ local }) => local),
  ).toEqual(["00:00", "04:00", "08:00", "12:00", "16:00", "20:00"]);
  expect(namedHours([quarter(1), quarter(4)], { most: 7 })).toEqual([{ local: "01:00", index: 1 }]);
  expect(namedHours([], { most: 7 })).toEqual([]);
});

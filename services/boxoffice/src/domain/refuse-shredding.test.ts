import { expect, it } from "vitest";
import { refuseShredding } from "./refuse-shredding.ts";

const over = { live: false, isSeries: false, lastAt: 10, now: 11 };

it.each([
  ["it is over", over, undefined],
  ["a series has no dates", { ...over, isSeries: true, lastAt: null }, undefined],
  ["it is not over", { ...over, lastAt: 11 }, /event is over/],
  ["a date of a series is not over", { ...over, isSeries: true, lastAt: 12 }, /all dates/],
  ["its shop is online", { ...over, live: true }, /offline/],
  ["it is neither over nor offline", { ...over, live: true, lastAt: 12 }, /event is over/],
])("[D2.1] when %s", (_name, event, expected) => {
  const found = refuseShredding(event);
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(expected);
});

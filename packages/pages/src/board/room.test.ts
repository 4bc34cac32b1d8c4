import { expect, it } from "vitest";
import type { LiveLimit } from "./live.ts";
import { roomOf, shownLimit } from "./room.ts";

const limit = (persons: number, soft: number | null, hard: number | null): LiveLimit => ({
  ...{ persons, soft_limit: soft, hard_limit: hard, reached: null },
});

it.each([
  [limit(0, null, 100), "free"],
  [limit(89, null, 100), "free"],
  [limit(90, null, 100), "near"],
  [limit(100, null, 100), "full"],
  [limit(101, null, 100), "full"],
  [limit(71, 80, 100), "free"],
  [limit(72, 80, 100), "near"],
  [limit(80, 80, 100), "over_soft"],
  [limit(100, 80, 100), "full"],
  [limit(500, 80, null), "over_soft"],
])("[B3.2] a list with %o is %s", (of, expected) => {
  expect(roomOf(of)).toBe(expected);
});

it("[B3.2] a bar ends at the hard limit, else at the soft one", () => {
  expect([shownLimit(limit(1, 80, 100)), shownLimit(limit(1, 80, null))]).toEqual([100, 80]);
});

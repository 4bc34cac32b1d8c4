import { expect, it } from "vitest";
import { judge } from "./judge.ts";
import type { Plan } from "./plan.ts";
import type { Seen } from "./run-gates.ts";

const plan: Plan = { organizer: "o", gates: 1, arrivals: 100, minutes: 1, outageSeconds: 10 };
const seen: Seen = {
  waits: Array.from({ length: 100 }, (_, index) => index),
  ...{ admitted: 95, refused: 5, triedAgain: {}, wrong: {}, lost: 0, uploaded: 7, uploadMs: 300 },
};
const verdictOn = (changes: Partial<Seen>, counted: number | undefined = 102) =>
  judge({ seen: { ...seen, ...changes }, plan, counted });

it("a platform holds that answers in time, without mistakes, and has counted what gates have seen", () => {
  const { holds, rows } = verdictOn({ triedAgain: { "status 503": 3 } });
  expect(holds).toBe(true);
  expect(rows).toContainEqual(["wait of 99 of 100", "98 ms", "at most 1000 ms"]);
  expect(rows).toContainEqual(["sent again", "3 status 503", ""]);
  expect(rows).toContainEqual(["counted by the list", "102", "102"]);
});

it("one of 100 visitors may wait longer", () => {
  expect(verdictOn({ waits: [...Array(99).fill(5), 1100] }).holds).toBe(true);
});

it.each<[string, Partial<Seen>, number | undefined]>([
  ["two of 100 visitors wait too long", { waits: [...Array(98).fill(5), 1100, 1100] }, 102],
  ["nothing was answered", { waits: [], admitted: 0, uploaded: 0 }, 0],
  ["an answer is wrong", { wrong: { "status 400": 1 } }, 102],
  ["a visitor gets no answer", { lost: 1 }, 102],
  ["what was decided without network is stored late", { uploadMs: 60_001 }, 102],
  ["the list has counted one too few", {}, 101],
  ["the list does not answer", {}, undefined],
])("it does not hold where %s", (_why, changes, counted) => {
  const { holds } = judge({ seen: { ...seen, ...changes }, plan, counted });
  expect(holds).toBe(false);
});

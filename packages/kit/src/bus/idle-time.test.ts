import { expect, it } from "vitest";
import { idleMs } from "./idle-time.ts";

it("an idle relay pauses ten times as long as it has read", () => {
  expect(idleMs(3)).toBe(30);
});

it("a slow database delays facts of other processes by two seconds at most", () => {
  expect(idleMs(60_000)).toBe(2000);
});

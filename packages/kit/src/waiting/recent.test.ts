import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Recent } from "./recent.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a name is remembered from when it was noted last", () => {
  const recent = new Recent({ forMs: 60_000 });
  recent.note("one");
  vi.advanceTimersByTime(50_000);
  recent.note("one");
  recent.note("two");
  vi.advanceTimersByTime(50_000);
  expect(["one", "two", "three"].map((name) => recent.has(name))).toEqual([true, true, false]);
  vi.advanceTimersByTime(10_000);
  expect(["one", "two"].map((name) => recent.has(name))).toEqual([false, false]);
});

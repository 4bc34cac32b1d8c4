import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Expiring, Expiry } from "./expiry.ts";

interface Named extends Expiring {
  readonly name: string;
}

const expired: string[] = [];
const expiry = new Expiry<Named>(({ name }) => expired.push(name));
const add = (name: string) => {
  const item = { name, expiresAt: performance.now() + 100 };
  expiry.add(item);
  return item;
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  expired.length = 0;
});

it("ends each after its time, with one timer, and nothing that was deleted", () => {
  const first = add("first");
  vi.advanceTimersByTime(40);
  add("second");
  const third = add("third");
  expect(vi.getTimerCount()).toBe(1);
  expiry.delete(first);
  vi.advanceTimersByTime(99);
  expect(expired).toEqual([]);
  expiry.delete(third);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["second"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("keeps no timer for what is over", () => {
  expiry.delete(add("over"));
  expect(vi.getTimerCount()).toBe(0);
});

it("goes on with what came while something expired", () => {
  add("first");
  vi.advanceTimersByTime(60);
  add("second");
  vi.advanceTimersByTime(40);
  add("third");
  expect(expired).toEqual(["first"]);
  vi.advanceTimersByTime(100);
  expect(expired).toEqual(["first", "second", "third"]);
});

import { describe, expect, it, vi } from "vitest";
import { waitAtMost } from "./wait-at-most.ts";

const late = () => new Error("too late");

describe("waitAtMost", () => {
  it("gives the result or the failure of work that ends in time", async () => {
    await expect(waitAtMost(1000, Promise.resolve(5), late)).resolves.toBe(5);
    await expect(waitAtMost(1000, Promise.reject(new Error("broken")), late)).rejects.toThrow("broken");
  });

  it("gives up on work that does not", async () => {
    await expect(waitAtMost(10, new Promise(() => {}), late)).rejects.toThrow("too late");
  });

  it("takes no notice of a failure after that", async () => {
    const work = Promise.withResolvers<void>();
    await expect(waitAtMost(10, work.promise, late)).rejects.toThrow("too late");
    // Vitest fails a run with an unhandled rejection.
    work.reject(new Error("broken"));
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("leaves no timer behind", async () => {
    vi.useFakeTimers();
    try {
      await waitAtMost(60_000, Promise.resolve(), late);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

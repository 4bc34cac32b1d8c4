import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { remember } from "./remember.ts";

interface Found {
  readonly value: number;
}

describe("remember", () => {
  it("looks up once, also for many at a time", async () => {
    const lookUp = vi.fn(async (): Promise<Found> => ({ value: 1 }));
    const remembered = remember<Found>(lookUp, { max: 10, ttlMs: 1000 });
    await Promise.all(Array.from({ length: 20 }, () => remembered.get("a")));
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  it("remembers for a while only", async () => {
    const lookUp = vi.fn(async (): Promise<Found> => ({ value: 1 }));
    const remembered = remember<Found>(lookUp, { max: 10, ttlMs: 100 });
    await remembered.get("a");
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(1);
    await wait(120);
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(2);
  });

  it("[S2.6] does not remember what it did not find, nor a failure", async () => {
    const lookUp = vi.fn(async (): Promise<Found | undefined> => undefined);
    const remembered = remember<Found>(lookUp, { max: 10, ttlMs: 1000 });
    await remembered.get("a");
    lookUp.mockRejectedValueOnce(new Error("away"));
    await expect(remembered.get("a")).rejects.toThrow("away");
    lookUp.mockResolvedValueOnce({ value: 2 });
    expect(await remembered.get("a")).toEqual({ value: 2 });
    expect(lookUp).toHaveBeenCalledTimes(3);
  });

  it("forgets what was being looked up when the cache was cleared", async () => {
    const answers: ((found: Found) => void)[] = [];
    const remembered = remember<Found>(() => new Promise((resolve) => answers.push(resolve)), { max: 10, ttlMs: 1000 });
    const before = remembered.get("a");
    remembered.forget();
    const after = remembered.get("a");
    expect(answers).toHaveLength(2);
    answers[1]?.({ value: 2 });
    expect(await after).toEqual({ value: 2 });
    answers[0]?.({ value: 1 });
    expect(await before).toEqual({ value: 1 });
    expect(await remembered.get("a")).toEqual({ value: 2 });
  });
});

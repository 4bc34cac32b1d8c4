import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { remember } from "./remember.ts";

interface Found {
  readonly value: number;
}

const limits = { max: 10, ttlMs: 1000, maxMisses: 10, missMs: 1000 };

describe("remember", () => {
  it("looks up once, also for many at a time", async () => {
    const lookUp = vi.fn(async (): Promise<Found> => ({ value: 1 }));
    const remembered = remember<Found>(lookUp, limits);
    await Promise.all(Array.from({ length: 20 }, async () => remembered.get("a")));
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  it("remembers for a while only", async () => {
    const lookUp = vi.fn(async (): Promise<Found> => ({ value: 1 }));
    const remembered = remember<Found>(lookUp, { ...limits, ttlMs: 100 });
    await remembered.get("a");
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(1);
    await wait(120);
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(2);
  });

  it("[S2.6] remembers what it did not find until something changes, and for a shorter while", async () => {
    const lookUp = vi.fn(async (): Promise<Found | undefined> => undefined);
    const remembered = remember<Found>(lookUp, { ...limits, missMs: 100 });
    await remembered.get("a");
    expect(await remembered.get("a")).toBeUndefined();
    expect(lookUp).toHaveBeenCalledTimes(1);
    lookUp.mockResolvedValue({ value: 2 });
    remembered.forget();
    expect(await remembered.get("a")).toEqual({ value: 2 });
    lookUp.mockResolvedValue(undefined);
    await remembered.get("b");
    await wait(120);
    await remembered.get("b");
    expect(lookUp).toHaveBeenCalledTimes(4);
  });

  it("[S2.6] does not remember what it did not find when something was created meanwhile", async () => {
    const answers: ((found: Found | undefined) => void)[] = [];
    const remembered = remember<Found>(() => new Promise((resolve) => answers.push(resolve)), limits);
    const before = remembered.get("a");
    remembered.forget();
    answers[0]?.(undefined);
    expect(await before).toBeUndefined();
    const after = remembered.get("a");
    answers[1]?.({ value: 1 });
    expect(await after).toEqual({ value: 1 });
  });

  it("[S2.6] loses nothing that it found to what it did not find", async () => {
    const lookUp = vi.fn(async (key: string): Promise<Found | undefined> => (key === "a" ? { value: 1 } : undefined));
    const remembered = remember<Found>(lookUp, limits);
    await remembered.get("a");
    for (let stranger = 0; stranger < 100; stranger += 1) await remembered.get(`unknown ${stranger}`);
    await remembered.get("a");
    expect(lookUp).toHaveBeenCalledTimes(101);
  });

  it("does not remember a failure", async () => {
    const lookUp = vi.fn(async (): Promise<Found | undefined> => ({ value: 2 }));
    const remembered = remember<Found>(lookUp, limits);
    lookUp.mockRejectedValueOnce(new Error("away"));
    await expect(remembered.get("a")).rejects.toThrow("away");
    expect(await remembered.get("a")).toEqual({ value: 2 });
  });

  it("forgets what was being looked up when the cache was cleared", async () => {
    const answers: ((found: Found) => void)[] = [];
    const remembered = remember<Found>(() => new Promise((resolve) => answers.push(resolve)), limits);
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

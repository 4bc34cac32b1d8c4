import { describe, expect, it } from "vitest";
import { localLimiter, sharedLimiter } from "./limiters.ts";

const options = { name: "test", attempts: 2, windowMs: 60_000 };

describe("a limiter of this process", () => {
  it("holds no more keys than it may, and forgets the oldest first", async () => {
    const limiter = localLimiter(options, { maxKeys: 100 });
    for (let key = 0; key < 100; key += 1) await limiter.take(`key ${key}`);
    expect((await limiter.take("key 0")).remaining).toBe(0);
    await limiter.take("one too many");
    // The second attempt did not make the first key any younger.
    expect((await limiter.take("key 99")).remaining).toBe(0);
    expect((await limiter.take("key 0")).remaining).toBe(1);
  });

  it("[S4.10] stays small under a flood of keys", async () => {
    const limiter = localLimiter(options, { maxKeys: 1000 });
    const before = process.getActiveResourcesInfo().length;
    for (let key = 0; key < 50_000; key += 1) await limiter.take(`key ${key}`);
    expect((await limiter.take("key 49999")).remaining).toBe(0);
    expect((await limiter.take("key 100")).remaining).toBe(1);
    expect(process.getActiveResourcesInfo().length - before).toBeLessThan(1100);
  });
});

describe("a limiter of many processes", () => {
  it("limits in this process alone while the count is out of reach, and goes on with it afterwards", async () => {
    let count: number | undefined;
    const limiter = sharedLimiter(options, {
      prefix: "x:",
      evaluate: async () => {
        if (count === undefined) throw new Error("out of reach");
        count += 1;
        return [count, 5000];
      },
    });
    const taken = async () => (await limiter.take("key")).allowed;
    expect([await taken(), await taken(), await taken()]).toEqual([true, true, false]);
    count = 1;
    expect([await taken(), await taken()]).toEqual([true, false]);
  });

  it("asks no more about a key that has used up its window", async () => {
    let asked = 0;
    const limiter = sharedLimiter(options, {
      prefix: "x:",
      evaluate: async () => {
        asked += 1;
        return [asked, 5000];
      },
    });
    for (let attempt = 0; attempt < 20; attempt += 1) await limiter.take("key");
    expect(asked).toBe(2);
    expect((await limiter.take("key")).resetMs).toBeGreaterThan(4000);
  });
});

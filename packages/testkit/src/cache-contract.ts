import { setTimeout as sleep } from "node:timers/promises";
import type { Cache } from "@tessera/kit/cache/cache";
import { afterEach, describe, expect, it } from "vitest";

export interface CacheUnderTest {
  readonly cache: Cache;
  /** The same cache in another process; a cache within one process has none. */
  another?(): Promise<Cache>;
  close(): Promise<void>;
}

/** Tests the promises of the port for any cache. */
export function cacheContract(name: string, makeCache: () => Promise<CacheUnderTest>): void {
  describe(`the cache contract: ${name}`, () => {
    const made: CacheUnderTest[] = [];
    afterEach(async () => {
      await Promise.all(made.splice(0).map((under) => under.close()));
    });

    async function fresh(): Promise<CacheUnderTest & { readonly sides: readonly Cache[] }> {
      const under = await makeCache();
      made.push(under);
      const other = await under.another?.();
      return { ...under, sides: other === undefined ? [under.cache] : [under.cache, other] };
    }

    describe("limits", () => {
      it("allow exactly their number of concurrent attempts", async () => {
        const { sides } = await fresh();
        const limiters = sides.map((side) => side.limiter({ name: "a", attempts: 30, windowMs: 60_000 }));
        const turns = Array.from({ length: 100 / limiters.length }, () => limiters).flat();
        const taken = await Promise.all(turns.map((limiter) => limiter.take("key")));
        const allowed = taken.filter((allowance) => allowance.allowed);
        expect(allowed).toHaveLength(30);
        // Each attempt got another remaining number: none was counted twice or not at all.
        expect(allowed.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: 30 }, (_, index) => index),
        );
        for (const { allowed: wasAllowed, remaining, resetMs } of taken) {
          expect(resetMs).toBeGreaterThan(50_000);
          expect(resetMs).toBeLessThanOrEqual(60_000);
          if (!wasAllowed) expect(remaining).toBe(0);
        }
      });

      it("count each key and each name separately", async () => {
        const { sides } = await fresh();
        const keys = ["a", "b", "a:b", "", "ü 🎟\n*{}[]\u0000", "k".repeat(1000)];
        for (const [index, limiterName] of ["one", "two"].entries()) {
          const limiter = sides[index % sides.length]?.limiter({ name: limiterName, attempts: 1, windowMs: 60_000 });
          for (const key of keys) expect((await limiter?.take(key))?.allowed).toBe(true);
          for (const key of keys) expect((await limiter?.take(key))?.allowed).toBe(false);
        }
      });

      it("begin a window with the first attempt, and a new one after its end", async () => {
        const { sides } = await fresh();
        const limiters = sides.map((side) => side.limiter({ name: "a", attempts: 2, windowMs: 1000 }));
        const take = async () => Promise.all(limiters.map((limiter) => limiter.take("key")));
        const began = Date.now();
        let last = await take();
        while (last.every(({ allowed }) => allowed)) last = await take();
        const { resetMs } = last.find(({ allowed }) => !allowed) ?? { resetMs: 0 };
        expect(Date.now() - began + resetMs).toBeLessThan(1500);
        await sleep(resetMs + 20);
        expect((await limiters[0]?.take("key"))?.remaining).toBe(1);
      });

      it("refuse limits that cannot be counted", async () => {
        const { cache } = await fresh();
        for (const attempts of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
          expect(() => cache.limiter({ name: "a", attempts, windowMs: 1000 })).toThrow("attempts");
        for (const windowMs of [0, -1000, 100, 1500, Number.NaN])
          expect(() => cache.limiter({ name: "a", attempts: 1, windowMs })).toThrow("window");
      });
    });

    it("disturbs no caller after it was closed", async () => {
      const { cache } = await fresh();
      const limiter = cache.limiter({ name: "a", attempts: 1, windowMs: 60_000 });
      await cache.close();
      const taken = [await limiter.take("key"), await limiter.take("key")];
      expect(taken.map(({ allowed }) => allowed)).toEqual([true, false]);
      await cache.close();
    });
  });
}

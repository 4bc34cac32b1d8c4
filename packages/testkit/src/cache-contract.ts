import { setTimeout as sleep } from "node:timers/promises";
import type { Cache } from "@tessera/kit/cache/cache";
import { afterEach, describe, expect, it, vi } from "vitest";

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

    describe("hints", () => {
      it("reach every listening process, this one included, with any text", async () => {
        const { cache, sides } = await fresh();
        const heard = sides.map((side) => listen(side, "news"));
        const texts = ["", "a", "ü 🎟 \u0000\n\"'", "x".repeat(100_000)];
        for (const text of texts) cache.hint("news", text);
        await vi.waitFor(() => {
          for (const told of heard) expect(told.toSorted()).toEqual(texts.toSorted());
        });
      });

      it("reach only listeners of their channel", async () => {
        const { cache, sides } = await fresh();
        const [news = [], other = []] = ["news", "other"].map((channel) => listen(sides.at(-1) ?? cache, channel));
        cache.hint("other", "1");
        cache.hint("news", "2");
        await vi.waitFor(() => expect([news, other]).toEqual([["2"], ["1"]]));
      });

      it("come after the call that sends them, and not after the end of listening", async () => {
        const { cache } = await fresh();
        const heard: string[] = [];
        const stop = cache.onHint("news", (text) => heard.push(text));
        const still = listen(cache, "news");
        cache.hint("news", "1");
        expect(heard).toEqual([]);
        await vi.waitFor(() => expect(heard).toEqual(["1"]));
        stop();
        stop();
        cache.hint("news", "2");
        await vi.waitFor(() => expect(still).toEqual(["1", "2"]));
        expect(heard).toEqual(["1"]);
      });

      it("reach the other listeners when one throws", async () => {
        const { cache, sides } = await fresh();
        const heard = sides.map((side) => {
          side.onHint("news", () => {
            throw new Error("this listener is broken");
          });
          return listen(side, "news");
        });
        cache.hint("news", "1");
        cache.hint("news", "2");
        await vi.waitFor(() => {
          for (const texts of heard) expect(texts.toSorted()).toEqual(["1", "2"]);
        });
      });
    });

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
      const heard = listen(cache, "news");
      await cache.close();
      cache.hint("news", "1");
      const taken = [await limiter.take("key"), await limiter.take("key")];
      expect(taken.map(({ allowed }) => allowed)).toEqual([true, false]);
      await sleep(20);
      expect(heard).toEqual([]);
      await cache.close();
    });
  });
}

function listen(cache: Cache, channel: string): string[] {
  const heard: string[] = [];
  cache.onHint(channel, (text) => heard.push(text));
  return heard;
}

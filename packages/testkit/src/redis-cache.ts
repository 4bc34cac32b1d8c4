import { setTimeout as sleep } from "node:timers/promises";
import { type RedisCacheOptions, redisCache } from "@tessera/engines/cache/redis";
import type { Cache } from "@tessera/kit/cache/cache";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";

export interface OpenedCache {
  readonly cache: Cache;
  /** The messages of all log lines so far. */
  readonly lines: readonly string[];
  isUsable(): Promise<boolean>;
  /** Waits until Redis is used, or is not used any more. */
  becomes(state: "usable" | "useless"): Promise<void>;
}

/** For hangs alone: recovery takes as long as a busy machine takes. */
const patienceMs = 100_000;

/** Opens a cache on Redis with visible inner state. It may not be connected yet. */
export function watchedCache(url: string, options: Partial<RedisCacheOptions> = {}): OpenedCache {
  const lines: string[] = [];
  const log = createLog({
    service: "test",
    destination: { write: (line) => void lines.push((JSON.parse(line) as { message: string }).message) },
  });
  const metrics = createMetrics();
  const cache = redisCache({ url, log, metrics, ...options });
  const isUsable = async () => /^tessera_cache_usable 1$/m.test(await metrics.exposition());
  return {
    cache,
    lines,
    isUsable,
    async becomes(state) {
      const deadline = Date.now() + patienceMs;
      while ((await isUsable()) !== (state === "usable")) {
        if (Date.now() > deadline) throw new Error(`the cache has not become ${state} in ${patienceMs} ms`);
        await sleep(10);
      }
    },
  };
}

/** Opens a cache on Redis and waits until it is connected. */
export async function connectedCache(url: string, options: Partial<RedisCacheOptions> = {}): Promise<OpenedCache> {
  const opened = watchedCache(url, options);
  await opened.becomes("usable");
  return opened;
}

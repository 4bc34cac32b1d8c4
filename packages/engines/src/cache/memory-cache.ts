import type { Cache, Limiter } from "@tessera/kit/cache/cache";
import type { Log } from "@tessera/kit/telemetry/log";
import { createListeners } from "./hints.ts";
import { localLimiter } from "./limiters.ts";

/** Makes a cache for a single process. */
export function memoryCache({ log }: { log: Log }): Cache {
  const listeners = createListeners(log);
  const limiters = new Map<string, Limiter>();
  return {
    hint: (channel, text) => listeners.notify(channel, text),
    onHint: (channel, act) => listeners.add(channel, act),
    limiter(options) {
      const name = JSON.stringify([options.name, options.attempts, options.windowMs]);
      const limiter = limiters.get(name) ?? localLimiter(options);
      limiters.set(name, limiter);
      return limiter;
    },
    close: async () => listeners.clear(),
  };
}

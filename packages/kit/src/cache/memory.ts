import type { Log } from "../log.ts";
import type { Cache, Limiter } from "./cache.ts";
import { createListeners } from "./hints.ts";
import { localLimiter } from "./limiters.ts";

/** Makes a cache that reaches no further than this process. */
export function memoryCache({ log }: { log: Log }): Cache {
  const listeners = createListeners(log);
  const limiters = new Map<string, Limiter>();
  return {
    hint: (channel, text) => listeners.tell(channel, text),
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

import type { Cache, Limiter } from "@tessera/kit/cache/cache";
import { localLimiter } from "./limiters.ts";

export function memoryCache(): Cache {
  const limiters = new Map<string, Limiter>();
  return {
    limiter(options) {
      const name = JSON.stringify([options.name, options.attempts, options.windowMs]);
      const limiter = limiters.get(name) ?? localLimiter(options);
      limiters.set(name, limiter);
      return limiter;
    },
    close: async () => {},
  };
}

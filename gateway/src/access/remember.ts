import { LRUCache } from "lru-cache";

/** A look-up with a cache. */
export interface Remembered<V> {
  get(key: string): Promise<V | undefined>;
  /** Clears the cache, and ignores look-ups that are still running. */
  forget(): void;
}

/**
 * Caches what a look-up found, for at most `ttlMs`. Missing values are not
 * cached: a key that was just created must work at once.
 */
export function remember<V extends object>(
  lookUp: (key: string) => Promise<V | undefined>,
  { max, ttlMs }: { max: number; ttlMs: number },
): Remembered<V> {
  const found = new LRUCache<string, V>({ max, ttl: ttlMs });
  let underWay = new Map<string, Promise<V | undefined>>();

  async function look(key: string, generation: Map<string, Promise<V | undefined>>): Promise<V | undefined> {
    try {
      const value = await lookUp(key);
      // A look-up that began before `forget` may have read the old state.
      if (value !== undefined && generation === underWay) found.set(key, value);
      return value;
    } finally {
      generation.delete(key);
    }
  }

  return {
    async get(key) {
      const known = found.get(key);
      if (known !== undefined) return known;
      const generation = underWay;
      const shared = generation.get(key);
      if (shared !== undefined) return shared;
      const looking = look(key, generation);
      generation.set(key, looking);
      return looking;
    },
    forget() {
      underWay = new Map();
      found.clear();
    },
  };
}

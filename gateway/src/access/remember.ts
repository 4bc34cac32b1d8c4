import { LRUCache } from "lru-cache";

export interface Remembered<V> {
  /** A cached value synchronously; else a promise of the lookup. */
  get(key: string): V | undefined | Promise<V | undefined>;
  /** Clears the cache, and ignores lookups in progress. */
  forget(): void;
}

interface RememberLimits {
  readonly max: number;
  readonly ttlMs: number;
  /** The size of the negative cache. It is separate, because anyone can fill it. */
  readonly maxMisses: number;
  /** How long a miss is cached, in case a notification is lost. */
  readonly missMs: number;
}

/** Caches hits and misses of a lookup: `forget` follows every change. */
export function remember<V extends object>(
  lookUp: (key: string) => Promise<V | undefined>,
  { max, ttlMs, maxMisses, missMs }: RememberLimits,
): Remembered<V> {
  const found = new LRUCache<string, V>({ max, ttl: ttlMs });
  const missed = new LRUCache<string, true>({ max: maxMisses, ttl: missMs });
  let underWay = new Map<string, Promise<V | undefined>>();

  async function look(key: string, generation: Map<string, Promise<V | undefined>>): Promise<V | undefined> {
    try {
      const value = await lookUp(key);
      // A lookup that began before `forget` may have read the old state.
      if (generation === underWay) {
        if (value === undefined) missed.set(key, true);
        else found.set(key, value);
      }
      return value;
    } finally {
      generation.delete(key);
    }
  }

  return {
    get(key) {
      const known = found.get(key);
      if (known !== undefined) return known;
      if (missed.has(key)) return undefined;
      const generation = underWay;
      const shared = generation.get(key);
      if (shared !== undefined) return shared;
      const looking = look(key, generation);
      generation.set(key, looking);
      return looking;
    },
    forget() {
      underWay = new Map();
      // Clearing an empty cache would cost as much as clearing a full one.
      for (const cache of [found, missed]) if (cache.size > 0) cache.clear();
    },
  };
}

import { LRUCache } from "lru-cache";

/** A look-up with a cache. */
export interface Remembered<V> {
  /** What is remembered, at once; else a promise of what is found. */
  get(key: string): V | undefined | Promise<V | undefined>;
  /** Clears the cache, and ignores look-ups that are still running. */
  forget(): void;
}

interface RememberLimits {
  readonly max: number;
  readonly ttlMs: number;
  /** How much is remembered that was not found. Anybody can ask for it, so it takes no place from what was found. */
  readonly maxMisses: number;
  /** How long, should a change not have been heard of. */
  readonly missMs: number;
}

/** Caches what a look-up found, and what it did not find: `forget` follows whatever is created. */
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
      // A look-up that began before `forget` may have read the old state.
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
      // Clearing costs as much as a full cache, also for an empty one.
      for (const cache of [found, missed]) if (cache.size > 0) cache.clear();
    },
  };
}

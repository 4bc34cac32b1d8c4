import type { Queryable } from "@tessera/kit/pg/database";
import { LRUCache } from "lru-cache";
import { type Ladder, readLadder, sizeOf } from "../../store/ladder.ts";
import type { PositionFilter } from "../../store/position-filter.ts";

interface Ordered {
  readonly ordering: readonly string[];
  /** How many tickets the filter leaves. */
  readonly count: number;
}

/** Keeps ladders of large lists for a minute: while tickets change, a page they lead to is that of the minute before. */
export interface Ladders {
  /** Undefined: another request could not read it. */
  find(db: Queryable, filter: PositionFilter, ordered: Ordered): Promise<Ladder | undefined>;
}

const keptMs = 60_000;

/** More tickets than this between two rungs take a moment to skip. */
const leastDistance = 1000;

/** A ladder has hardly more rungs than this. */
const mostRungs = 1000;

/** A ladder takes some hundred thousand bytes: this is room for all that is sorted in a large event. */
const mostBytes = 4_000_000;

const mostOrganizers = 16;

export function openLadders(): Ladders {
  const kept = new LRUCache<string, LRUCache<string, Ladder>>({ max: mostOrganizers });
  const underway = new Map<string, Promise<Ladder>>();
  const openFor = (organizer: string) => {
    const opened = kept.get(organizer) ?? openKept();
    kept.set(organizer, opened);
    return opened;
  };
  return {
    async find(db, filter, { ordering, count }) {
      const own = openFor(filter.organizer);
      const key = JSON.stringify([filter, ordering]);
      const found = own.get(key);
      if (found !== undefined) return found;
      const sameOne = underway.get(key);
      if (sameOne !== undefined) return sameOne.catch(() => undefined);
      const distance = Math.max(leastDistance, Math.ceil(count / mostRungs));
      const reading = readLadder(db, filter, { ordering, count, distance });
      underway.set(key, reading);
      try {
        const ladder = await reading;
        own.set(key, ladder);
        return ladder;
      } finally {
        underway.delete(key);
      }
    },
  };
}

/** The key has the filter and the rules of its list, which may be longer than the ladder. */
function openKept(): LRUCache<string, Ladder> {
  return new LRUCache({
    maxSize: mostBytes,
    ttl: keptMs,
    sizeCalculation: (ladder, key) => sizeOf(ladder) + 2 * key.length,
  });
}

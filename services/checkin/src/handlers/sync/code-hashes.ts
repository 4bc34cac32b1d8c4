import type { Queryable } from "@tessera/kit/pg/database";
import { LRUCache } from "lru-cache";
import { requireCodeKey } from "../../store/code-keys.ts";
import { type HashCode, hasherOf } from "../../wire/hash-code.ts";

export interface CodeHash {
  readonly key: Uint8Array;
  readonly hash: HashCode;
}

/** Its result can be cached: keys never change. */
export type FindCodeHash = (organizer: string) => Promise<CodeHash>;

const mostKnown = 1000;

export function codeHashes(db: Queryable): FindCodeHash {
  const known = new LRUCache<string, CodeHash>({
    max: mostKnown,
    fetchMethod: async (organizer) => {
      const key = await requireCodeKey(db, organizer);
      return { key, hash: hasherOf(key) };
    },
  });
  return async (organizer) => {
    const found = await known.fetch(organizer);
    if (found === undefined) throw new Error("a key was looked for and not found");
    return found;
  };
}

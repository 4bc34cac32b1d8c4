import { runInContext } from "@tessera/kit/context";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ReadPackRequest, ReadPackResponse } from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import { LRUCache } from "lru-cache";
import { fault } from "../../faults.ts";
import { type PackPlace, readPackPlace } from "../../wire/pack-place.ts";
import type { FindCodeHash } from "./code-hashes.ts";
import { type AskedPack, makePack } from "./make-pack.ts";

export interface PackDeps {
  readonly packs: Packs;
}

/** Makes a pack of an event, or takes one that was made a moment ago: the feed brings what has changed since. */
export async function readPack(request: ReadPackRequest, { packs }: PackDeps): Promise<ReadPackResponse> {
  return { pack: await packs(request) };
}

export type Packs = (request: ReadPackRequest) => Promise<Uint8Array>;

/** All devices of an event begin with the same pack. */
const keptMs = 30_000;
const mostBytes = 64 * 1024 * 1024;

/** A caller gives up sooner, and finds the pack when it asks again. */
const longestMs = 120_000;

export function openPacks({ reads, findCodeHash }: { reads: Reads; findCodeHash: FindCodeHash }): Packs {
  const made = new LRUCache<string, Uint8Array>({
    ttl: keptMs,
    maxSize: mostBytes,
    sizeCalculation: (pack) => pack.length,
  });
  const underWay = new Map<string, Promise<Uint8Array>>();

  async function make(key: string, asked: AskedPack): Promise<Uint8Array> {
    try {
      const codes = await findCodeHash(asked.organizer);
      const pack = await reads.inTurn(asked.organizer, (db) => makePack(db, asked, codes));
      made.set(key, pack);
      return pack;
    } finally {
      underWay.delete(key);
    }
  }

  return async ({ organizer, event, from, withNames }) => {
    const asked = { organizer, event, withNames, from: from === "" ? undefined : requirePlace(from) };
    const key = JSON.stringify([organizer, event, from, withNames]);
    const known = made.get(key);
    if (known !== undefined) return known;
    // Without the context of a caller: others wait for the same pack when that one leaves.
    const pack = underWay.get(key) ?? runInContext({ signal: AbortSignal.timeout(longestMs) }, () => make(key, asked));
    underWay.set(key, pack);
    return pack;
  };
}

function requirePlace(text: string): PackPlace {
  const place = readPackPlace(text);
  if (place === undefined)
    throw fault("invalid_cursor", "This is not the `next` of a pack.", {
      fields: { from: ["This is not the `next` of a pack."] },
    });
  return place;
}

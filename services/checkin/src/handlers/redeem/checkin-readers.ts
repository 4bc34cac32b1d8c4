import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { createReaders, type Readers } from "@tessera/admission";
import { LRUCache } from "lru-cache";
import type { HasSigned } from "../../domain/signed-ticket.ts";

/** Parses what decisions need, and the keys of signed tickets. */
export interface CheckinReaders extends Readers {
  /** The keys of signed tickets, as JSON. */
  ticketKeys(json: string): HasSigned;
}

/** Keys have some hundred characters: room for those of thousands of events. */
const mostKeyCharacters = 1_000_000;

export function createCheckinReaders(): CheckinReaders {
  const keys = new LRUCache({
    maxSize: mostKeyCharacters,
    sizeCalculation: (_, json: string) => json.length,
    memoMethod: readTicketKeys,
  });
  return { ...createReaders(), ticketKeys: (json) => keys.memo(json) };
}

/** A key that cannot be read has signed nothing. */
function readTicketKeys(json: string): HasSigned {
  const keys = (JSON.parse(json) as readonly string[]).flatMap((text) => readTicketKey(text) ?? []);
  return (payload, signature) => keys.some((key) => verify(null, payload, key, signature));
}

function readTicketKey(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey(Buffer.from(text, "base64"));
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}

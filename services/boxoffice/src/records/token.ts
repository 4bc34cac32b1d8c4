import { createHash } from "node:crypto";
import type { Known } from "../store/references.ts";
import type { Complain } from "./kind.ts";

/** Hashes a token; this is all that is kept of it. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/**
 * Complains about tokens that belong to another credential, also of another organizer, or to an earlier record of the
 * run: a token must lead to one credential.
 */
export function compareTokens(known: Known): (hash: Buffer | null, owner: string, complain: Complain) => void {
  const owners = new Map(known.tokens);
  return (hash, owner, complain) => {
    if (hash === null) return;
    const hex = hash.toString("hex");
    if ((owners.get(hex) ?? owner) === owner) owners.set(hex, owner);
    else complain("token", "this token belongs to another key or device");
  };
}

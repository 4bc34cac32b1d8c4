import { createHash } from "node:crypto";
import type { Known } from "../store/references.ts";
import type { Complain } from "./kind.ts";

/** Hashes a token; this is all that is kept of it. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Which credential each token leads to. It must be one, whatever organizers they belong to. */
export class TokenOwners {
  readonly #owners: Map<string, string>;

  constructor(known: Known) {
    this.#owners = new Map(known.tokens);
  }

  /** Complains about a token that belongs to another credential. */
  examine({ tokenHash }: Tokened, owner: string, complain: Complain): void {
    if (tokenHash === null) return;
    const found = this.#owners.get(tokenHash.toString("hex")) ?? owner;
    if (found !== owner) complain("token", "this token belongs to another key or device");
  }

  admit({ tokenHash }: Tokened, owner: string): void {
    if (tokenHash !== null) this.#owners.set(tokenHash.toString("hex"), owner);
  }
}

interface Tokened {
  readonly tokenHash: Buffer | null;
}

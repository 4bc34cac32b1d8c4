import { createHash } from "node:crypto";
import type { AddError } from "@tessera/records/validate";
import type { Known } from "../domain/known.ts";

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

  /** Finds a token that belongs to another credential. */
  validate({ tokenHash }: Tokened, owner: string, addError: AddError): void {
    if (tokenHash === null) return;
    const found = this.#owners.get(tokenHash.toString("hex")) ?? owner;
    if (found !== owner) addError("token", "this token belongs to another key or device");
  }

  admit({ tokenHash }: Tokened, owner: string): void {
    if (tokenHash !== null) this.#owners.set(tokenHash.toString("hex"), owner);
  }
}

interface Tokened {
  readonly tokenHash: Buffer | null;
}

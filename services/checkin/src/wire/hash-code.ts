import { createHmac, createSecretKey } from "node:crypto";
import { hashBytes } from "@tessera/values";

/** Hashes codes for gates, so that a lost phone reveals no code. */
export type HashCode = (code: string) => Buffer;

export function hasherOf(key: Uint8Array): HashCode {
  // Made once: to make it for each code takes longer than to hash it.
  const secret = createSecretKey(key);
  return (code) => createHmac("sha256", secret).update(code).digest().subarray(0, hashBytes);
}

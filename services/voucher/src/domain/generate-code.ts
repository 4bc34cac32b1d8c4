import { makeTexts } from "@tessera/values";
import { isOffensive } from "@tessera/values/offensive";

/** Without letters and digits that look alike. */
const shape = { alphabet: "ABCDEFGHKLMNPQRSTUVWXYZ23456789", length: 16 };

/**
 * Makes codes of random bytes, about fifteen of 256. The caller repeats until it has enough: codes with an offensive
 * word are dropped, so no number of bytes is certain to give one.
 */
export function generateCodes(bytes: Uint8Array): string[] {
  return makeTexts(bytes, shape).filter((code) => !isOffensive(code));
}

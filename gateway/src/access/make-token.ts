import { createHmac, randomInt } from "node:crypto";

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
const length = 64;

/** Rejection sampling: bytes from this value on would favour some characters. */
const fairBytes = 256 - (256 % alphabet.length);

/** Makes a random token for a key or a device, in the format that clients know. */
export function makeToken(): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** Derives a token from a secret and the request id: a repeated request gets the same token. */
export function deriveToken(secret: string, requestId: string): string {
  let token = "";
  for (let round = 0; token.length < length; round += 1) {
    const bytes = createHmac("sha512", secret).update(`token ${round} ${requestId}`).digest();
    for (const byte of bytes) if (byte < fairBytes) token += alphabet[byte % alphabet.length];
  }
  return token.slice(0, length);
}

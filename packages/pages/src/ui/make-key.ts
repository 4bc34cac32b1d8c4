/** Makes a key that no other request has. Unlike `randomUUID` this is there without https, too. */
export function makeKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

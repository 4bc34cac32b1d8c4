import { createHash } from "node:crypto";

export const secretAlphabet = "abcdefghjkmnpqrstuvwxyz23456789";
export const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ379";

/** Derives a text from its purpose, so that the demo is the same every time. */
export function draw(purpose: string, { length, alphabet }: { length: number; alphabet: string }): string {
  const bytes = createHash("sha512").update(`tessera demo ${purpose}`).digest();
  return Array.from(bytes.subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** Derives a number from 0 to below the limit. */
export function drawNumber(purpose: string, limit: number): number {
  return createHash("sha512").update(`tessera demo ${purpose}`).digest().readUInt32BE(0) % limit;
}

/** The code of an order: three letters that hide its number, then the number in letters. */
export function orderCode(event: string, number: number): string {
  const base = codeAlphabet.length;
  const digits = [number / base ** 2, number / base, number].map((part) => codeAlphabet[Math.floor(part) % base]);
  return draw(`${event} code ${number}`, { length: 3, alphabet: codeAlphabet }) + digits.join("");
}

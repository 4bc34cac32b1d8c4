import { createHash } from "node:crypto";

export const secretAlphabet = "abcdefghjkmnpqrstuvwxyz23456789";
export const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ379";

/** Draws a text from what it is for: the same demo every time. */
export function draw(purpose: string, { length, alphabet }: { length: number; alphabet: string }): string {
  const bytes = createHash("sha512").update(`tessera demo ${purpose}`).digest();
  return Array.from(bytes.subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** Draws a number from 0 up to, and without, a limit. */
export function drawNumber(purpose: string, limit: number): number {
  return createHash("sha512").update(`tessera demo ${purpose}`).digest().readUInt32BE(0) % limit;
}

/** The code of an order: as many letters as tell it apart, behind some that hide which number it is. */
export function orderCode(event: string, number: number): string {
  const base = codeAlphabet.length;
  const digits = [number / base ** 2, number / base, number].map((part) => codeAlphabet[Math.floor(part) % base]);
  return draw(`${event} code ${number}`, { length: 3, alphabet: codeAlphabet }) + digits.join("");
}

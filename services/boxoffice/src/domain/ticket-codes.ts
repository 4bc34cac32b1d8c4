import { makeTexts } from "@tessera/values";
import { isOffensive } from "@tessera/values/offensive";

/** The alphabets of codes and secrets, without characters that look alike. */
const alphabets = {
  order: "ABCDEFGHJKLMNPQRSTUVWXYZ379",
  orderSecret: "0123456789abcdefghijklmnopqrstuvwxyz",
  ticket: "abcdefghjkmnpqrstuvwxyz23456789",
  pseudonym: "ABCDEFGHJKLMNPQRSTUVWXYZ3789",
} as const;

export const lengths = { order: 5, orderSecret: 16, pseudonym: 10 } as const;

/** Random bytes that almost certainly suffice for this many texts: at most one byte in eight is rejected. */
export function bytesFor(count: number, length: number): number {
  return Math.ceil(count * length * 1.2) + 64;
}

/** Makes codes of orders. Codes of test mode have a zero, which no other code has. */
export function makeOrderCodes(
  bytes: Uint8Array,
  { length, testmode }: { readonly length: number; readonly testmode: boolean },
): string[] {
  const codes = makeTexts(bytes, { alphabet: alphabets.order, length });
  const marked = testmode ? codes.map((code) => `${code.charAt(0)}0${code.slice(2)}`) : codes;
  return marked.filter((code) => !isOffensive(code));
}

/** Makes secrets of order pages. */
export function makeOrderSecrets(bytes: Uint8Array): string[] {
  return makeTexts(bytes, { alphabet: alphabets.orderSecret, length: lengths.orderSecret });
}

export function makeTicketSecrets(bytes: Uint8Array, length: number): string[] {
  return makeTexts(bytes, { alphabet: alphabets.ticket, length });
}

/** Makes pseudonyms: ids of tickets where their secrets must not be seen. */
export function makePseudonyms(bytes: Uint8Array): string[] {
  return makeTexts(bytes, { alphabet: alphabets.pseudonym, length: lengths.pseudonym });
}

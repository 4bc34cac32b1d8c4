import { makeTexts } from "@tessera/values";
import { isOffensive } from "@tessera/values/offensive";

/** The characters of what a ticket and its order are known by. None looks like another one of it. */
const alphabets = {
  order: "ABCDEFGHJKLMNPQRSTUVWXYZ379",
  orderSecret: "0123456789abcdefghijklmnopqrstuvwxyz",
  ticket: "abcdefghjkmnpqrstuvwxyz23456789",
  pseudonym: "ABCDEFGHJKLMNPQRSTUVWXYZ3789",
} as const;

export const lengths = { order: 5, orderSecret: 16, pseudonym: 10 } as const;

/** Enough random bytes for so many texts, in all likelihood: one in eight is left out at most. */
export function bytesFor(count: number, length: number): number {
  return Math.ceil(count * length * 1.2) + 64;
}

/** Makes codes of orders. Those of test mode have a zero that no other code has. */
export function makeOrderCodes(
  bytes: Uint8Array,
  { length, testmode }: { readonly length: number; readonly testmode: boolean },
): string[] {
  const codes = makeTexts(bytes, { alphabet: alphabets.order, length });
  const marked = testmode ? codes.map((code) => `${code.charAt(0)}0${code.slice(2)}`) : codes;
  return marked.filter((code) => !isOffensive(code));
}

/** Makes secrets of the pages of orders. */
export function makeOrderSecrets(bytes: Uint8Array): string[] {
  return makeTexts(bytes, { alphabet: alphabets.orderSecret, length: lengths.orderSecret });
}

/** Makes secrets of tickets. */
export function makeTicketSecrets(bytes: Uint8Array, length: number): string[] {
  return makeTexts(bytes, { alphabet: alphabets.ticket, length });
}

/** Makes pseudonyms: they name tickets where their secrets must not be seen. */
export function makePseudonyms(bytes: Uint8Array): string[] {
  return makeTexts(bytes, { alphabet: alphabets.pseudonym, length: lengths.pseudonym });
}

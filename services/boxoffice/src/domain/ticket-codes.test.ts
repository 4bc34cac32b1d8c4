import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  bytesFor,
  lengths,
  makeOrderCodes,
  makeOrderSecrets,
  makePseudonyms,
  makeTicketSecrets,
} from "./ticket-codes.ts";

const many = (length: number) => randomBytes(bytesFor(1000, length));

/** The texts of another form. */
const others = (texts: readonly string[], form: RegExp) => texts.filter((text) => !form.test(text));

/** How many distinct characters occur, if there are enough texts. */
const characters = (texts: readonly string[]) => (texts.length > 900 ? new Set(texts.join("")).size : texts.length);

describe("[O4.1] what a ticket is known by", () => {
  it("is a code of its order", () => {
    const texts = makeOrderCodes(many(5), { length: 5, testmode: false });
    expect(others(texts, /^[A-HJ-NP-Z379]{5}$/)).toEqual([]);
    expect(characters(texts)).toBe(27);
  });

  it("[O4.2] is a code with a zero in test mode", () => {
    const texts = makeOrderCodes(many(5), { length: 5, testmode: true });
    expect(others(texts, /^[A-HJ-NP-Z379]0[A-HJ-NP-Z379]{3}$/)).toEqual([]);
    expect(characters(texts)).toBe(28);
  });

  it("[O4.3] is no offensive word", () => {
    const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ379";
    const bytes = Uint8Array.from("SLUTAXA9AXA", (character) => alphabet.indexOf(character));
    expect(makeOrderCodes(bytes, { length: 5, testmode: false })).toEqual(["XA9AX"]);
  });

  it("is a secret of the order's page", () => {
    const texts = makeOrderSecrets(many(16));
    expect(others(texts, /^[a-z0-9]{16}$/)).toEqual([]);
    expect(characters(texts)).toBe(36);
  });

  it.each([12, 64])("is a secret of %i characters, as the event says", (length) => {
    const texts = makeTicketSecrets(many(length), length);
    expect(others(texts, /^[a-hjkmnp-z2-9]+$/)).toEqual([]);
    expect(new Set(texts.map((text) => text.length))).toEqual(new Set([length]));
    expect(characters(texts)).toBe(31);
  });

  it("is a pseudonym", () => {
    const texts = makePseudonyms(many(lengths.pseudonym));
    expect(others(texts, /^[A-HJ-NP-Z3789]{10}$/)).toEqual([]);
    expect(characters(texts)).toBe(28);
  });
});

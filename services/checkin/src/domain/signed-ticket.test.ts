import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCheckinReaders } from "../handlers/redeem/checkin-readers.ts";
import { backwards, signTicket, ticketKeys, toCode, toPayload } from "../testing/sign-ticket.ts";
import { mayBeSigned, readSignedTicket } from "./signed-ticket.ts";

const own = ticketKeys();
const another = ticketKeys();
const readers = createCheckinReaders();
const hasSigned = (...keys: readonly string[]) => readers.ticketKeys(JSON.stringify(keys));
const byOwn = hasSigned(own.publicKey);
const anybody = () => true;

const seed = [1, "seed12345"] as const;
const payload = toPayload([seed, [2, 10], [3, 101], [4, 5], [5, 1_800_000_000], [6, 1_900_000_000]]);
const code = signTicket(payload, own.privateKey);
const ids = { item: 10, variation: 101, subevent: 5 };

describe("a signed ticket", () => {
  it("[E5.2] tells its product and date to who has a key of its event", () => {
    expect(readSignedTicket(code, byOwn)).toEqual(ids);
    expect(readSignedTicket(code, hasSigned("no key", "", another.publicKey, own.publicKey))).toEqual(ids);
    for (const keys of [[], [another.publicKey], ["no key", Buffer.from("-----BEGIN").toString("base64")]])
      expect(readSignedTicket(code, hasSigned(...keys))).toBeUndefined();
  });

  it.each([
    ["no fields but the random one", [seed], { item: null, variation: null, subevent: null }],
    ["zeros for what it lacks", [seed, [2, 10], [3, 0], [4, 0]], { item: 10, variation: null, subevent: null }],
    [
      "the largest id",
      [seed, [2, Number.MAX_SAFE_INTEGER]],
      { ...ids, item: Number.MAX_SAFE_INTEGER, variation: null, subevent: null },
    ],
    ["a negative time", [seed, [2, 10], [5, -1n]], { item: 10, variation: null, subevent: null }],
    ["a field of the future", [seed, [2, 10], [9, "more"], [99, 1]], { item: 10, variation: null, subevent: null }],
    ["an id twice", [seed, [2, 9], [2, 10]], { item: 10, variation: null, subevent: null }],
  ] as const)("may have %s", (_name, fields, expected) => {
    expect(readSignedTicket(signTicket(toPayload(fields), own.privateKey), byOwn)).toEqual(expected);
  });

  it("is as the shop writes it, to the letter", () => {
    // A code of the scheme, made elsewhere by hand: "abc" as the random part, and item 1 on date 14.
    const written = Buffer.from(`0100090040${"0a03616263"}${"1001"}${"200e"}${"00".repeat(64)}`, "hex").toString(
      "base64",
    );
    expect(readSignedTicket(backwards(written), anybody)).toEqual({ item: 1, variation: null, subevent: 14 });
    expect(readSignedTicket(written, anybody)).toBeUndefined();
  });

  it.each([
    ["another version", toCode(payload, new Uint8Array(64), { version: 2 })],
    ["a short signature", toCode(payload, new Uint8Array(63))],
    [
      "bytes behind it",
      backwards(Buffer.concat([Buffer.from(backwards(code), "base64"), Buffer.alloc(3)]).toString("base64")),
    ],
    ["an id that no product has", toCode(toPayload([seed, [2, 2n ** 60n]]), new Uint8Array(64))],
    ["a negative id", toCode(toPayload([seed, [4, -5n]]), new Uint8Array(64))],
    ["a text as id", toCode(toPayload([seed, [2, "10"]]), new Uint8Array(64))],
    ["a cut number", toCode(Uint8Array.from([8 * 2, 0x80]), new Uint8Array(64))],
    ["an endless number", toCode(new Uint8Array(20).fill(0x80), new Uint8Array(64))],
    ["a text longer than all", toCode(Uint8Array.from([8 + 2, 200, 1, 65]), new Uint8Array(64))],
    ["an unknown form of a field", toCode(Uint8Array.from([8 + 3, 1]), new Uint8Array(64))],
  ])("[E5.3] is none with %s, whichever key signed it", (_name, text) => {
    expect(mayBeSigned(text)).toBe(true);
    expect(readSignedTicket(text, anybody)).toBeUndefined();
  });

  it("[E5.3] is none where anything was changed, cut or added", () => {
    const place = fc.nat({ max: code.length - 1 });
    fc.assert(
      fc.property(place, fc.string({ maxLength: 3, unit: "binary" }), fc.nat({ max: 3 }), (at, text, gone) => {
        const changed = code.slice(0, at) + text + code.slice(at + gone);
        fc.pre(changed !== code);
        expect(readSignedTicket(changed, byOwn)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
    for (let bit = 0; bit < 8 * payload.length; bit += 1) {
      const forged = Uint8Array.from(payload);
      forged[bit >> 3] = (forged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const signature = Buffer.from(backwards(code), "base64").subarray(5 + payload.length);
      expect(readSignedTicket(toCode(forged, signature), byOwn)).toBeUndefined();
    }
  });

  it("[E5.3] is none of any text, and of any bytes that somebody signed", () => {
    const texts = fc.oneof(fc.string({ unit: "binary" }), fc.base64String({ minLength: 90, maxLength: 400 }));
    fc.assert(
      fc.property(texts, (text) => {
        expect(readSignedTicket(text, byOwn)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (bytes) => {
        const ticket = readSignedTicket(toCode(bytes, new Uint8Array(64)), anybody);
        for (const id of Object.values(ticket ?? {})) expect(id === null || Number.isSafeInteger(id)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("[E5.4] is not looked for in codes of the usual length", () => {
    expect(mayBeSigned("abcdefghjkmnpqrstuvwxyz23456789abc")).toBe(false);
    expect(mayBeSigned("a".repeat(64))).toBe(false);
    expect(mayBeSigned(`${code} `)).toBe(false);
    expect(mayBeSigned("a".repeat(5000))).toBe(false);
  });

  it("[E5.4] reads the keys of an event once", () => {
    expect(hasSigned(own.publicKey)).toBe(byOwn);
  });
});

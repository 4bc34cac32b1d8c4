import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstIdMadeHere, maxImportedId } from "./code.ts";
import { hashBytes, Pack, type PackedPresence, type PackedTicket } from "./pack.ts";
import { PackWriter } from "./pack-writer.ts";

const id = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(maxImportedId, firstIdMadeHere, 2 ** 53 - 1));
const moment = fc.option(fc.constantFrom(0, -1, 1_795_000_000_123_456, 253_402_300_799_000_000));
const ticket: fc.Arbitrary<Omit<PackedTicket, "id">> = fc.record({
  hash: fc.uint8Array({ minLength: hashBytes, maxLength: hashBytes }),
  item: id,
  variation: fc.option(id),
  subevent: fc.option(id),
  status: fc.constantFrom("pending", "paid", "expired", "canceled"),
  validIfPending: fc.boolean(),
  requireApproval: fc.boolean(),
  canceled: fc.boolean(),
  blocked: fc.boolean(),
  requireAttention: fc.boolean(),
  validFrom: moment,
  validUntil: moment,
  locale: fc.constantFrom("", "de", "zh-Hänt"),
  addonTo: fc.option(id),
  answered: fc
    .uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 3 })
    .map((ids) => ids.toSorted((a, b) => a - b)),
});
const scan = fc.record({
  type: fc.constantFrom("entry" as const, "exit" as const),
  at: fc.integer({ min: 0, max: 2 ** 47 - 1 }),
});
const presence = fc.record({
  list: id,
  entries: fc.constantFrom(0, 1, 2, 700, 2 ** 32 - 1),
  scans: fc.array(scan, { maxLength: 4 }),
});

const joined = (writer: PackWriter, info: object = {}) => new Uint8Array(Buffer.concat([...writer.parts(info)]));

type Held = Omit<PackedPresence, "ticket">;

function write(rows: readonly (readonly [PackedTicket, readonly Held[]])[], info: object = {}): Uint8Array {
  const writer = new PackWriter();
  for (const [each, held] of rows) writer.add(each, held);
  return joined(writer, info);
}

/** The ticket with this number: its hash is that number. */
function numbered(number: number, changes: Partial<PackedTicket> = {}): PackedTicket {
  const hash = new Uint8Array(hashBytes);
  new DataView(hash.buffer).setUint32(0, number);
  return {
    ...{ hash, id: firstIdMadeHere + number, item: 1, variation: null, subevent: null, status: "paid" },
    ...{ validIfPending: false, requireApproval: false, canceled: false, blocked: false, requireAttention: false },
    ...{ validFrom: null, validUntil: null, locale: "en", addonTo: null, answered: [] },
    ...changes,
  };
}

const entry = (at = 1_795_000_000_123): Held => ({ list: 1, entries: 1, scans: [{ type: "entry", at }] });

describe("a pack", () => {
  it("[F4.1, F4.6] reads as it was written, and is no longer than its writer says", () => {
    const all = fc.uniqueArray(fc.tuple(id, ticket, fc.array(presence, { maxLength: 2 })), {
      selector: ([first]) => first,
      maxLength: 8,
    });
    fc.assert(
      fc.property(all, (rows) => {
        const tickets = rows.map(([id, fields]) => ({ id, ...fields }));
        const presences = rows.flatMap(([ticket, , held]) => held.map((each) => ({ ticket, ...each })));
        const writer = new PackWriter();
        for (const [index, [, , held]] of rows.entries()) writer.add(tickets[index] as PackedTicket, held);
        const info = { event: "é" };
        const bytes = joined(writer, info);
        const counted = writer.bytes + new TextEncoder().encode(JSON.stringify(info)).length;
        expect(counted).toBeGreaterThanOrEqual(bytes.length);
        expect(counted).toBeLessThanOrEqual(bytes.length + 50 + 4 * rows.length);
        const pack = new Pack(bytes);
        expect(pack.info).toEqual(info);
        expect(pack.size).toBe(tickets.length);
        for (const wanted of tickets) {
          const found = pack.find(wanted.hash).map((place) => pack.ticket(place));
          expect(found).toContainEqual(wanted);
        }
        for (let place = 0; place < pack.size; place += 1) {
          const ticket = pack.idAt(place);
          expect(pack.presencesOf(place)).toEqual(presences.filter((each) => each.ticket === ticket));
          const addons = tickets.filter(({ addonTo }) => addonTo === ticket).map(({ id }) => id);
          expect(new Set(pack.addonsOf(ticket).map((addon) => pack.idAt(addon)))).toEqual(new Set(addons));
        }
        expect([...pack.presences()]).toHaveLength(presences.length);
        expect([...pack.presences()]).toEqual(expect.arrayContaining(presences));
      }),
    );
  });

  it("[F4.1] of 100 000 tickets has 4.4 MB where four of five are add-ons and all were scanned, else 2.8 MB", () => {
    const numbers = Array.from({ length: 100_000 }, (_, number) => number);
    const plain = write(numbers.map((number) => [numbered(number), []]));
    expect(plain.length).toBeLessThan(2_801_000);
    const addons = numbers.map((number) => {
      const addonTo = number % 5 === 0 ? null : firstIdMadeHere + number - (number % 5);
      return [numbered(number, { addonTo }), [entry()]] as const;
    });
    expect(write(addons).length).toBeLessThan(4_421_000);
  });

  it("[F4.1] is written in parts, between which others have their turn", () => {
    const writer = new PackWriter();
    for (let number = 0; number < 10_000; number += 1) {
      const hash = new Uint8Array(hashBytes).fill(number % 256);
      writer.add(numbered(number, { hash, addonTo: 1, answered: [1] }), [entry()]);
    }
    const [, , ...parts] = [...writer.parts({})].map(({ length }) => length);
    expect(Math.max(...parts)).toBeLessThanOrEqual(40 * 28);
  });

  it("[F4.1] has 35 bytes for a ticket that is an add-on and has answered", () => {
    const rows = (count: number) =>
      write(
        Array.from({ length: count }, (_, number) => [
          numbered(number, { addonTo: firstIdMadeHere, answered: [3, 4] }),
          [],
        ]),
      );
    expect(rows(3000).length - rows(2000).length).toBe(35_000);
  });

  it("[F4.6] tells how often a ticket came in where its scans do not", () => {
    const scans = Array.from({ length: 130 }, () => ({ type: "entry" as const, at: 7 }));
    const [read] = new Pack(write([[numbered(1), [{ list: 1, entries: 900, scans }]]])).presences();
    expect(read).toMatchObject({ entries: 900 });
    expect(read?.scans).toHaveLength(127);
  });

  it.each([
    [-1, 0],
    [-62_135_596_800_000, 0],
    [2 ** 47, 2 ** 47 - 1],
    [253_402_300_799_999, 2 ** 47 - 1],
  ])("[F4.6] has times from 1970 until 47 bits end: %i is %i", (at, read) => {
    const [first, second] = new Pack(write([[numbered(1), [entry(at), entry(5)]]])).presences();
    expect(first?.scans).toEqual([{ type: "entry", at: read }]);
    expect(second?.scans).toEqual([{ type: "entry", at: 5 }]);
  });

  it.each([
    ["items", (value: number) => [numbered(value, { item: value }), []]],
    ["variations", (value: number) => [numbered(value, { variation: value }), []]],
    ["dates", (value: number) => [numbered(value, { subevent: value }), []]],
    ["locales", (value: number) => [numbered(value, { locale: `l${value}` }), []]],
    ["lists", (value: number) => [numbered(value), [{ ...entry(), list: value }]]],
  ] as const)("[F4.2] is full in time, and refuses more %s than places can name", (name, row) => {
    const writer = new PackWriter();
    const add = (value: number) => writer.add(...(row(value) as [PackedTicket, Held[]]));
    for (let value = 0; value < 65_534; value += 1) {
      if (value === 30_000) expect(writer.isFull).toBe(false);
      add(value);
    }
    expect(writer.isFull).toBe(true);
    expect(() => add(65_534)).toThrow(`a pack has room for 65534 ${name}`);
    add(65_533);
    expect(new Pack(joined(writer)).size).toBe(65_535);
  });

  it("[F4.1] finds nothing for other codes", () => {
    const hash = new Uint8Array(hashBytes).fill(7);
    expect(new Pack(write([])).find(hash)).toEqual([]);
    expect(new Pack(write([[numbered(1), []]])).find(hash)).toEqual([]);
  });

  it.each([new Uint8Array(3), new Uint8Array(100)])("[F4.1] is not read from other bytes", (bytes) => {
    expect(() => new Pack(bytes)).toThrow("no pack");
  });

  it("[F4.1] is not read when it was cut", () => {
    const bytes = write([[numbered(1, { addonTo: 2 }), []]]);
    expect(() => new Pack(bytes.subarray(0, -1))).toThrow("was cut");
  });
});

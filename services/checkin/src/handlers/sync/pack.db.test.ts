import { createHmac } from "node:crypto";
import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { Pack } from "@tessera/values";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  blockedSecretFact,
  eventFact,
  itemFact,
  mediumFact,
  noon,
  order,
  place,
  positionFact,
  questionFact,
  revokedSecretFact,
} from "../../testing/facts.ts";
import { FeedReader } from "../../testing/feed-reader.ts";
import { type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
});
afterAll(() => database.drop());
beforeEach(async () => {
  // A process keeps packs for a while.
  checkin = await startCheckin(database.open("checkin"));
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
});

const { organizer, event } = place;
const read = async (changes: object = {}) => {
  const { pack } = await checkin.sync.readPack(
    { ...place, from: "", withNames: false, ...changes },
    { timeoutMs: 20_000 },
  );
  return new Pack(pack);
};
const hasher = (pack: Pack) => (code: string) =>
  createHmac("sha256", Buffer.from(String(pack.info["key"]), "base64"))
    .update(code)
    .digest()
    .subarray(0, 8);

it("[F4.1, F4.6] has every ticket with its scans, found by the hash of its code, and all else as the feed shows it", async () => {
  const list = await checkin.createList({ rules: '{"and": [true]}' });
  await checkin.deliver(topics.questionChanged, [questionFact(4)]);
  await checkin.deliver(topics.revokedSecretChanged, [revokedSecretFact(5)]);
  await checkin.deliver(topics.blockedSecretChanged, [blockedSecretFact(6)]);
  await checkin.deliver(topics.positionChanged, [
    positionFact(7, { secret: "sévèn", blocked: ["x"], validFrom: noon - 1 }),
    positionFact(8, {
      ...{ secret: "eight", addonTo: 7, item: 11, canceled: true, order: order({ locale: "fr" }) },
      answers: [{ question: 4, answer: "x", questionIdentifier: "Q4", options: [], optionIdentifiers: [] }],
    }),
  ]);
  await checkin.deliver(topics.reusableMediumChanged, [mediumFact(7), mediumFact(9, { linkedPositions: [] })]);
  await checkin.deliver(topics.positionChanged, [positionFact(9, { secret: "nine" })]);
  await checkin.redeem(scan(list.id, "nine"));
  const pack = await read();
  const hash = hasher(pack);
  expect(pack.size).toBe(3);
  expect(pack.find(hash("sévèn")).map((at) => pack.ticket(at))).toMatchObject([
    { id: 7, item: 10, status: "paid", blocked: true, canceled: false, validFrom: noon - 1, validUntil: null },
  ]);
  expect(pack.find(hash("eight")).map((at) => pack.ticket(at))).toMatchObject([
    { id: 8, item: 11, canceled: true, addonTo: 7, locale: "fr", answered: [4] },
  ]);
  expect(pack.find(hash("other"))).toEqual([]);
  expect([...pack.presences()]).toEqual([
    { ticket: 9, list: list.id, entries: 1, scans: [{ type: "entry", at: noon / 1000 }] },
  ]);
  expect(pack.info).toMatchObject({ event, next: null });
  const entities = pack.info["entities"] as readonly { readonly kind: string; readonly data: object }[];
  expect(entities.map(({ kind }) => kind)).toEqual([
    "event",
    "item",
    "question",
    "list",
    "revoked",
    "blocked",
    "medium",
  ]);
  const codes = entities.flatMap(({ data }) => ("code" in data ? [data.code] : []));
  expect(codes).toEqual(["revoked5", "blocked6", "047"].map((code) => hash(code).toString("hex")));
});

it("[F4.4] leads to the feed of the same hashes", async () => {
  await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "one" })]);
  const pack = await read();
  await checkin.deliver(topics.positionChanged, [positionFact(2, { secret: "two", attendeeName: "Ada" })]);
  const reader = new FeedReader(checkin.sync, { organizer, among: { slugs: [event] }, hashed: true });
  reader.cursor = String(pack.info["cursor"]);
  const lines = await reader.readAll();
  expect(lines).toMatchObject([{ kind: "ticket", id: 2, data: { code: hasher(pack)("two").toString("hex") } }]);
});

it("[F4.3, F4.5] tells no code, and no person unless it is asked to", async () => {
  const note = "call her at the gate";
  const ofOrder = order({ code: "ORD99", checkinText: note });
  const person = { secret: "secret-code", attendeeName: "Ada Lovelace", order: ofOrder };
  await checkin.deliver(topics.positionChanged, [positionFact(1, person)]);
  const texts = async (wanted: { readonly withNames: boolean }) => {
    const { pack } = await checkin.sync.readPack({ ...place, from: "", ...wanted });
    return Buffer.from(pack).toString("latin1");
  };
  for (const told of ["secret-code", "Ada", "ORD99", note])
    expect(await texts({ withNames: false })).not.toContain(told);
  for (const told of ["Ada Lovelace", "ORD99", note]) expect(await texts({ withNames: true })).toContain(told);
  expect(await texts({ withNames: true })).not.toContain("secret-code");
  const reader = new FeedReader(checkin.sync, { organizer, hashed: true });
  const lines = JSON.stringify(await reader.readAll());
  for (const told of ["secret-code", "Ada", "ORD99", note]) expect(lines).not.toContain(told);
});

it("[F4.1] is of its event, for which there has to be one", async () => {
  await checkin.deliver(topics.eventChanged, [eventFact({ event: "other" }), eventFact({ organizer: "rivals" })]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), { ...positionFact(2), event: "other" }]);
  expect((await read()).size).toBe(1);
  expect((await read({ organizer: "rivals" })).size).toBe(0);
  await expect(read({ event: "none" })).rejects.toMatchObject({ code: "event_not_found" });
});

describe("making one", () => {
  it("[F4.7] goes on for all others when the caller leaves that it was begun for", async () => {
    const reads = shareReads(database.open("checkin"));
    const [begun, mayRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const inTurn: typeof reads.inTurn = async (party, read) => {
      begun.resolve();
      await mayRead.promise;
      return reads.inTurn(party, read);
    };
    const counted = { ...reads, inTurn: vi.fn(inTurn) as unknown as typeof inTurn };
    const slow = await startCheckin(database.open("checkin"), { reads: counted });
    const leaves = new AbortController();
    const ask = (signal?: AbortSignal) =>
      slow.sync.readPack({ ...place, from: "", withNames: false }, { timeoutMs: 20_000, ...(signal && { signal }) });
    const first = ask(leaves.signal);
    await begun.promise;
    const others = [ask(), ask()];
    leaves.abort();
    await expect(first).rejects.toThrow("abort");
    mayRead.resolve();
    for (const { pack } of await Promise.all(others)) expect(new Pack(pack).info).toMatchObject({ event });
    expect(counted.inTurn).toHaveBeenCalledOnce();
    expect(new Pack((await ask()).pack).size).toBe(0);
    expect(counted.inTurn).toHaveBeenCalledOnce();
  });

  it("[F4.7] fails for all who wait, and begins again for the next one", async () => {
    const reads = shareReads(database.open("checkin"));
    const inTurn = vi.fn(reads.inTurn).mockRejectedValueOnce(new Error("the database is away"));
    const failing = await startCheckin(database.open("checkin"), {
      reads: { ...reads, inTurn: inTurn as unknown as typeof reads.inTurn },
    });
    const ask = () => failing.sync.readPack({ ...place, from: "", withNames: false }, { timeoutMs: 20_000 });
    const both = await Promise.allSettled([ask(), ask()]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(new Pack((await ask()).pack).size).toBe(0);
  });
});

describe("a large event", () => {
  const most = 8 * 1024 * 1024;

  /** Reads packs to the end. */
  async function readAll(changes: object = {}) {
    const packs: Pack[] = [];
    for (let from: string | null = ""; from !== null; from = packs.at(-1)?.info["next"] as string | null) {
      const { pack } = await checkin.sync.readPack(
        { ...place, withNames: false, ...changes, from },
        { timeoutMs: 20_000 },
      );
      expect(pack.length).toBeLessThan(most + 100_000);
      packs.push(new Pack(pack));
    }
    return packs;
  }
  const idsOf = (pack: Pack) => Array.from({ length: pack.size }, (_, at) => pack.ticket(at).id);

  it("[F4.2] of 200 tickets with 100 scans on 2 lists each has all of them", async () => {
    await checkin.deliver(
      topics.positionChanged,
      Array.from({ length: 200 }, (_, index) => positionFact(index + 1)),
    );
    const db = database.open("checkin");
    await db.run(sql`
      insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
      select ${organizer}, ${event}, nextval('scan_id'), list.id, number.id, 'entry', true,
             timestamptz '2027-01-01' + turn.number * interval '1 minute', false, false, false
        from generate_series(1, 200) as number (id)
       cross join generate_series(1, 2) as list (id)
       cross join generate_series(1, 101) as turn (number)`);
    await db.run(sql`
      insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
      select ${organizer}, ${event}, number.id, list.id, 101, 101, 'entry', timestamptz '2027-01-01 01:41:00'
        from generate_series(1, 200) as number (id)
       cross join generate_series(1, 2) as list (id)`);
    const { pack: bytes } = await checkin.sync.readPack(
      { ...place, from: "", withNames: false },
      { timeoutMs: 20_000 },
    );
    const pack = new Pack(bytes);
    const presences = [...pack.presences()];
    expect(presences).toHaveLength(400);
    expect(new Set(presences.map(({ ticket, list }) => `${ticket}/${list}`)).size).toBe(400);
    expect(presences.every(({ entries, scans }) => entries === 101 && scans.length === 100)).toBe(true);
    const scanned = 400 * (7 + 4 + 100 * 6);
    expect(bytes.length - 5600 - scanned).toBeLessThan(5000);
  });

  it("[F4.2] comes in packs of about 8 MiB, whatever makes it large", async () => {
    const name = "Ä".repeat(9000);
    await checkin.deliver(
      topics.positionChanged,
      Array.from({ length: 1050 }, (_, index) => positionFact(index + 1, { attendeeName: name })),
    );
    const named = await readAll({ withNames: true });
    expect(named.map(({ size }) => size)).toEqual([
      expect.closeTo(466, -1),
      expect.closeTo(466, -1),
      expect.any(Number),
    ]);
    expect(named.flatMap(idsOf).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 1050 }, (_, index) => index + 1),
    );
    expect(await readAll()).toHaveLength(1);
  });

  it("[F4.2] goes on where a pack is full of anything but tickets", async () => {
    const document = Buffer.from(JSON.stringify({ help_text: { en: "x".repeat(200_000) } }));
    const questions = Array.from({ length: 90 }, (_, index) => index + 1);
    for (const id of questions) await checkin.deliver(topics.questionChanged, [questionFact(id, { document })]);
    await checkin.deliver(topics.positionChanged, [positionFact(1, { addonTo: 2 })]);
    const packs = await readAll();
    const entities = packs.flatMap(({ info }) => info["entities"] as readonly { kind: string; id: number }[]);
    expect(packs.length).toBeGreaterThan(2);
    expect(entities.filter(({ kind }) => kind === "question").map(({ id }) => id)).toEqual(questions);
    expect(entities.filter(({ kind }) => kind === "event")).toHaveLength(1);
    expect(packs.map(({ size }) => size)).toEqual([...packs.slice(1).map(() => 0), 1]);
    expect(packs.at(-1)?.ticket(0)).toMatchObject({ id: 1, addonTo: 2 });
  });

  it("[F4.8] is followed from the cursor of the first pack, also by who gets later ones that were made for others", async () => {
    const name = "Ä".repeat(5000);
    await checkin.deliver(
      topics.positionChanged,
      Array.from({ length: 1000 }, (_, index) => positionFact(index + 1, { attendeeName: name })),
    );
    const asked = { ...place, withNames: true };
    const ask = async (from: string) => {
      const { pack } = await checkin.sync.readPack({ ...asked, from }, { timeoutMs: 20_000 });
      return new Pack(pack);
    };
    const first = await ask("");
    const later = await ask(String(first.info["next"]));
    expect([first.info["cursor"], later.info["cursor"]]).toEqual([expect.any(String), null]);
    await checkin.deliver(topics.positionChanged, [positionFact(1000, { canceled: true }, { revision: 2 })]);
    // Another process has packs of its own, and one that has forgotten its first pack makes another.
    const other = await startCheckin(database.open("checkin"));
    const { pack: bytes } = await other.sync.readPack({ ...asked, from: "" }, { timeoutMs: 20_000 });
    const newer = new Pack(bytes);
    expect(newer.info["next"]).not.toBe(first.info["next"]);
    const behind = await ask(String(newer.info["next"]));
    const canceled = (pack: Pack) => idsOf(pack).some((id, at) => id === 1000 && pack.ticket(at).canceled);
    expect([canceled(later), canceled(behind)]).toEqual([false, true]);
    const reader = new FeedReader(checkin.sync, { organizer, among: { slugs: [event] }, hashed: true });
    reader.cursor = String(first.info["cursor"]);
    expect(await reader.readAll()).toMatchObject([{ kind: "ticket", id: 1000, data: { canceled: true } }]);
  });

  it.each([
    ...["1", "ticket.1", "ticket.1.short", "order.1.abcdefghijkl", "ticket.-2.abcdefghijkl", "ticket.1.abcdefghijkl."],
    ...["ticket.9999999999999999.abcdefghijkl", "Ticket.1.abcdefghijkl"],
  ])("[F4.8] has no pack behind %s", async (from) => {
    await expect(read({ from })).rejects.toMatchObject({ code: "invalid_cursor", fields: { from: [/./] } });
  });
});

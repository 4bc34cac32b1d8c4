import { randomUUID } from "node:crypto";
import type { ScanType } from "@tessera/admission";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, noon, place, positionFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { startCheckin } from "../testing/start-checkin.ts";
import { noteDeletedPositions } from "./deleted-positions.ts";
import { type ScanToStore, storeScans } from "./store-scans.ts";

let list: number;
let lastId = 1000;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
  list = (await checkin.createList()).id;
  await drawUntil(1_000_000);
});

/** Sets the sequence back to this id, as if it had been drawn last. */
async function drawUntil(id: number): Promise<void> {
  await checkin.db.one(sql`select setval('scan_id', ${id})`);
}

function decided(changes: Partial<ScanToStore> = {}): ScanToStore {
  lastId += 1;
  return {
    id: lastId,
    ...place,
    list,
    position: 1,
    type: "entry",
    at: noon,
    rawCode: "code",
    sourceType: "barcode",
    nonce: null,
    deviceId: null,
    gate: null,
    forced: false,
    forceSent: false,
    admission: null,
    refusal: null,
    fact: { id: randomUUID(), key: "key", payload: new Uint8Array([1, 0, 255]), traceparent: null },
    ...changes,
  };
}

const admission = (version: number, type: ScanType = "entry", changes: Partial<ScanToStore> = {}) =>
  decided({
    type,
    admission: {
      presence: { version, entries: 1, last: { type, at: noon } },
      entered: version === 1 ? 1 : 0,
      inside: type === "entry" ? 1 : -1,
    },
    ...changes,
  });
const refusal = (changes: Partial<ScanToStore> = {}) =>
  decided({ refusal: { reason: "blocked", explanation: null }, ...changes });
const store = async (...scans: ScanToStore[]) =>
  [...(await storeScans(checkin.db, { topic: "t", scans }))].sort((a, b) => a - b);

describe("storing decided scans", () => {
  it("keeps an admission only on top of what it was decided by", async () => {
    expect(await store(admission(1))).toEqual([0]);
    expect(await store(admission(1))).toEqual([]);
    expect(await store(admission(3, "exit"))).toEqual([]);
    expect(await store(admission(2, "exit"))).toEqual([0]);
    const { counted, recounted } = await recount(checkin.db);
    expect(counted).toEqual(recounted);
  });

  it("[C3.46] stores nothing under ids that the database has lost in a crash, so that ids rise with the scans", async () => {
    const [lost, kept] = [2_000_000, 1_500_000];
    await drawUntil(kept);
    expect(await store(admission(1, "entry", { id: lost }), refusal({ id: kept }))).toEqual([]);
    expect(await store(refusal({ id: lost }))).toEqual([]);
    expect(await checkin.db.many(sql`select id from scan`)).toEqual([]);
    expect(await store(admission(1, "entry", { id: kept }), refusal({ id: kept - 1 }))).toEqual([0, 1]);
  });

  it("stores no admission after scans that were deleted with their ticket", async () => {
    expect(await store(admission(1))).toEqual([0]);
    await checkin.deliver(topics.positionChanged, ["bigevents/sampleconf/1", positionFact(1)]);
    expect(await store(admission(2, "exit"))).toEqual([]);
    expect(await store(admission(1))).toEqual([0]);
  });

  it("stores those that are in time and returns which", async () => {
    await store(admission(1));
    const mixed = [
      admission(1, "entry", { position: 2 }),
      admission(1),
      refusal(),
      refusal({ position: null }),
      refusal({ list: list + 1 }),
      admission(1, "entry", { list: list + 1 }),
      admission(1, "entry", { position: 3 }),
    ];
    expect(await store(...mixed)).toEqual([0, 2, 3]);
  });

  it("keeps of each scan of a batch what only some of them have", async () => {
    const later = noon + 60_000_000;
    const elsewhere = (await checkin.createList()).id;
    const newest = { version: 1, entries: 1, last: { type: "exit" as const, at: later } };
    const all = [
      admission(1, "entry", { forced: true, forceSent: true, nonce: "n1" }),
      refusal({ list: elsewhere, sourceType: "nfc_uid", rawItem: 7, gate: 3 }),
      decided({
        position: 2,
        list: elsewhere,
        isAutomatic: true,
        deviceId: 5,
        admission: { presence: newest, entered: 1, inside: 0 },
      }),
    ];
    expect(await store(...all)).toEqual([0, 1, 2]);
    const rows = await checkin.db.many(sql`
      select scan.list, scan.position, scan.nonce, scan.source_type as source, scan.raw_item as item, scan.gate,
             scan.device_id as device, scan.forced, scan.force_sent as sent, scan.auto_checked_in as automatic, scan.at
        from scan
       order by scan.id`);
    const nothing = { nonce: null, source: "barcode", item: null, gate: null, device: null };
    const plain = { forced: false, sent: false, automatic: false, at: noon };
    expect(rows).toEqual([
      { ...nothing, ...plain, list, position: 1, nonce: "n1", forced: true, sent: true },
      { ...nothing, ...plain, list: elsewhere, position: 1, source: "nfc_uid", item: 7, gate: 3 },
      { ...nothing, ...plain, list: elsewhere, position: 2, device: 5, automatic: true },
    ]);
    expect(
      await checkin.db.many(sql`
        select presence.position, presence.list, presence.last_type as type, presence.last_at as at
          from presence
         order by presence.position`),
    ).toEqual([
      { position: 1, list, type: "entry", at: noon },
      { position: 2, list: elsewhere, type: "exit", at: later },
    ]);
  });

  it("stores no refusal of a deleted ticket", async () => {
    await checkin.deliver(topics.positionChanged, ["bigevents/sampleconf/1"]);
    expect(await store(refusal(), refusal({ position: 2 }), refusal({ position: null }))).toEqual([1, 2]);
    const rows = await checkin.db.many(sql`select scan.position from scan order by scan.id`);
    expect(rows).toEqual([{ position: 2 }, { position: null }]);
  });

  it("removes a refusal that was stored while its ticket went, and no other", async () => {
    await store(
      refusal(),
      refusal({ position: 2 }),
      admission(1, "entry", { position: 2 }),
      refusal({ position: null }),
    );
    const kept = await checkin.db.many(
      sql`select scan.id from scan where scan.position is distinct from 1 order by scan.id`,
    );
    await checkin.db.transaction(async (tx) => {
      await noteDeletedPositions(
        tx,
        [1, 2].map((id) => ({ ...place, id })),
      );
      await tx.run(sql`delete from position where position.id = 1`);
      await tx.run(sql`update gone_position set gone_at = now() - interval '11 minutes'`);
    });
    await checkin.runJob("compact-counts");
    expect(await checkin.db.many(sql`select scan.id from scan order by scan.id`)).toEqual(kept);
  });

  it("keeps facts to the byte, in the order of the scans", async () => {
    const payloads = [new Uint8Array([1, 0, 255]), new Uint8Array(), new Uint8Array([0])];
    const scans = payloads.map((payload, index) =>
      refusal({ fact: { id: randomUUID(), key: `k${index}`, payload, traceparent: index === 1 ? "trace" : null } }),
    );
    await store(...scans);
    const rows = await checkin.db.many(sql`
      select outbox.topic, outbox.key, outbox.payload, outbox.traceparent from outbox order by outbox.id`);
    expect(rows).toEqual([
      { topic: "t", key: "k0", payload: Buffer.from([1, 0, 255]), traceparent: null },
      { topic: "t", key: "k1", payload: Buffer.from([]), traceparent: "trace" },
      { topic: "t", key: "k2", payload: Buffer.from([0]), traceparent: null },
    ]);
  });
});

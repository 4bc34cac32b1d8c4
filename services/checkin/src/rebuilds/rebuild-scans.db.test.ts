import { memoryBus } from "@tessera/engines/memory-bus";
import { rebuildTopics } from "@tessera/kit/bus/rebuild-topics";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import type { EntityKey } from "../store/keys.ts";
import { checkinDatabase } from "../testing/database.ts";
import { earlierCheckin, eventFact, noon, positionFact } from "../testing/facts.ts";
import { scan, startCheckin } from "../testing/start-checkin.ts";
import { rebuildScans } from "./rebuild-scans.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
let list: number;
beforeEach(async () => {
  await checkin.reset();
  await checkin.db.run(sql`delete from rebuild`);
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  list = (await checkin.createList()).id;
  await checkin.deliver(
    topics.positionChanged,
    [1, 2, 3].map((id) => positionFact(id, {}, { earlierCheckins: id === 3 ? [earlierCheckin(1, { list })] : [] })),
  );
});

interface Published {
  readonly fact_id: string;
  readonly key: string;
  readonly payload: Buffer;
  readonly at: number;
}

/** Takes the published facts out of the outbox: ids, keys, bytes and headers of time. */
async function takePublished(): Promise<Published[]> {
  const rows = await checkin.db.many<
    Omit<Published, "at"> & { created_at: number; headers: Record<string, string> | null }
  >(sql`
    delete from outbox
     where marker is null
    returning fact_id, key, payload, created_at, headers`);
  return rows
    .map(({ created_at, headers, ...row }) => ({ ...row, at: Number(headers?.["fact-at"] ?? created_at) }))
    .sort((one, other) => (one.fact_id < other.fact_id ? -1 : 1));
}

async function rebuild(): Promise<void> {
  await checkin.db.run(sql`insert into rebuild (topic) values (${topics.scanDecided.name})`);
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const job = rebuildTopics({ db: checkin.db, bus: memoryBus([]), rebuilds: [rebuildScans], log, batchSize: 2 });
  await job.run(new AbortController().signal);
}

/** Admitted, refused, unknown, an exit, one with the microseconds of a device, one that was forced, and one out of order. */
async function scanAll(): Promise<void> {
  await checkin.redeemAll([scan(list, "secret1"), scan(list, "nobody"), scan(list, "secret2", { at: noon + 1 })]);
  await checkin.redeemAll([scan(list, "secret1", { nonce: "second" }), scan(list, "secret2", { type: ScanType.EXIT })]);
  await checkin.redeemAll([
    scan(list, "secret1", { force: true }),
    scan(list, "secret2", { at: noon - 1, force: true }),
  ]);
}

describe("scans that are published again", () => {
  it("[F3.1] have the ids, keys, bytes and days that they had, so that no consumer acts on them twice", async () => {
    await scanAll();
    const published = await takePublished();
    expect(published).toHaveLength(7);
    await rebuild();
    expect(await takePublished()).toEqual(published);
    const { expected, written } = await checkin.db.one<{ expected: number; written: number }>(
      sql`select expected, written from rebuild`,
    );
    expect({ expected, written }).toEqual({ expected: 7, written: 7 });
  });

  it("say when they were written this time, and what ends them sweeps nothing", async () => {
    await scanAll();
    await takePublished();
    await checkin.db.run(sql`update scan set created_at = now() - interval '10 days'`);
    await rebuild();
    const rows = await checkin.db.many<{ headers: Record<string, string> | null }>(
      sql`select headers from outbox order by id`,
    );
    const at = rows.slice(0, 7).map(({ headers }) => Number(headers?.["written-at"]) - Number(headers?.["fact-at"]));
    for (const apart of at) expect(apart / 86_400_000_000).toBeCloseTo(10, 2);
    const markers = rows.slice(7);
    expect(markers).toHaveLength(await memoryBus([]).partitions(topics.scanDecided.name));
    for (const marker of markers) expect(marker).toEqual({ headers: null });
  });

  it("are those that the topic would still hold", async () => {
    await scanAll();
    const published = await takePublished();
    const ids = await checkin.db.many<{ id: number }>(sql`select id from scan where imported_id is null order by id`);
    await checkin.db.run(sql`update scan set created_at = now() - interval '31 days' where id = ${ids[0]?.id}`);
    await rebuild();
    expect(await takePublished()).toHaveLength(published.length - 1);
  });

  it("are not those that are published by themselves later", async () => {
    await scanAll();
    await takePublished();
    const cutoff = await checkin.db.transaction(rebuildScans.drawCutoff);
    await checkin.redeem(scan(list, "secret3"));
    const found: number[] = [];
    await checkin.db.transaction(async (tx) => {
      for (let after: EntityKey | undefined; ; ) {
        const next = await rebuildScans.publishNext(tx, { after, limit: 3, cutoff });
        if (next === undefined) return;
        after = next.last;
        found.push(next.published);
      }
    });
    expect(found.reduce((sum, count) => sum + count, 0)).toBe(7);
  });
});

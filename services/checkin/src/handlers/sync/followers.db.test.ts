import type { Db } from "@tessera/kit/pg/database";
import { type Reads, shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { pause } from "@tessera/kit/waiting/pause";
import { expect, it, vi } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import { place } from "../../testing/facts.ts";
import { writeCursor } from "../../wire/sync-cursor.ts";
import { Follower } from "./followers.ts";
import { type Lines, readLines } from "./read-lines.ts";
import { beginCopy } from "./read-step.ts";

const { db } = await checkinDatabase();
const asked = { organizer: place.organizer, events: undefined };

async function read(from: Lines["cursor"], on: Db = db): Promise<Lines> {
  const lines = await readLines(on, asked, from);
  if (lines === undefined) throw new Error("this cursor is not too old");
  return lines;
}

const change = (id: number) =>
  db.run(sql`
    insert into revoked_secret (organizer, event, id, revision, secret)
    values (${place.organizer}, ${place.event}, ${id}, 1, 'x')`);

it("[F1.5] a gate that reads by itself while another one begins to wait misses nothing", async () => {
  const begun = await beginCopy(db, { organizer: place.organizer, scope: "" });
  const signal = new AbortController().signal;
  const follower = await Follower.open(shareReads(db), { asked, scope: "", signal });
  const mayGoOn = Promise.withResolvers<void>();
  const slowRead = await read({ ...begun, place: null });
  // This gate has read, and not begun to wait; then something changes.
  const slow = follower.besides(() => mayGoOn.promise.then(() => slowRead));
  await change(1);
  // Another one has read the change, and waits from there.
  const quickRead = await read((await read(slowRead.cursor)).cursor);
  const quick = await follower.besides(async () => quickRead);
  const wait = { waitMs: 5000, signal };
  const waiting = follower.newsBehind(quick.count, wait);
  void follower.run();
  mayGoOn.resolve();
  const { count } = await slow;
  const news = follower.newsBehind(count, wait);
  await change(2);
  const heard = [...((await news) ?? []), ...((await follower.newsBehind(count, wait)) ?? [])]
    .map(({ bytes }) => bytes.toString())
    .join("");
  expect(heard).toContain('"id":1');
  expect((await waiting)?.length).toBeGreaterThan(0);
});

it("[F1.9] news that are no longer kept are not taken for none", async () => {
  const signal = new AbortController().signal;
  const follower = await Follower.open(shareReads(db), { asked, scope: "", signal });
  const { count } = follower;
  const wait = { waitMs: 5000, signal };
  void follower.run();
  const heard = follower.newsBehind(count, wait);
  await change(101);
  expect(await heard).toHaveLength(1);
  const { lines } = await follower.besides(async () => ({
    ...{ bytes: Buffer.alloc(0), isComplete: true },
    cursor: (await read({ ...(await beginCopy(db, { organizer: place.organizer, scope: "" })), place: null })).cursor,
  }));
  expect(lines?.isComplete).toBe(true);
  expect(await follower.newsBehind(count, { waitMs: 0, signal })).toBeUndefined();
});

it("[F1.4] a gate that comes back after half a minute is told what is there now", async () => {
  const signal = new AbortController().signal;
  const follower = await Follower.open(shareReads(db), { asked, scope: "", signal });
  void follower.run();
  const heard = follower.newsBehind(follower.count, { waitMs: 5000, signal });
  await change(301);
  const [news] = (await heard) ?? [];
  expect(await follower.countAt(news?.after ?? "")).toBe(0);
  const later = performance.now() + 31_000;
  vi.spyOn(performance, "now").mockReturnValue(later);
  expect(await follower.countAt(news?.after ?? "")).toBeUndefined();
  expect(await follower.countAt(news?.cursor ?? "")).toBe(1);
});

it("[F1.4] a gate is told nothing that is older than what it has read, although it was read for others before", async () => {
  const reads = shareReads(db);
  const [isRead, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Reads["inTurn"] = async (party, work) => {
    const result = await reads.inTurn(party, work);
    if (!(result as Lines).bytes?.includes('"id":201')) return result;
    isRead.resolve();
    await mayGoOn.promise;
    return result;
  };
  const signal = new AbortController().signal;
  const follower = await Follower.open({ ...reads, inTurn: slow }, { asked, scope: "", signal });
  const begun = await beginCopy(db, { organizer: place.organizer, scope: "" });
  void follower.run();
  const others = follower.newsBehind(follower.count, { waitMs: 5000, signal });
  await change(201);
  await isRead.promise;
  await db.run(sql`delete from revoked_secret where revoked_secret.id = 201`);
  const { cursor, bytes } = await read({ ...begun, place: null });
  expect(bytes.toString()).toContain('"id":201,"deleted":true');
  const listen = async () => {
    const known = await follower.countAt(writeCursor(cursor));
    const count = known ?? (await follower.besides(() => read(cursor))).count;
    return follower.newsBehind(count, { waitMs: 300, signal });
  };
  const heard = listen();
  await Promise.race([heard, pause(200)]);
  mayGoOn.resolve();
  const told = ((await heard) ?? []).map((news) => news.bytes.toString()).join("");
  expect(told).not.toContain('"id":201,"data"');
  expect(await others).toHaveLength(1);
});

it("[F1.9, F1.11] a gate does not wait on when the database has crashed and is back", async () => {
  const reads = shareReads(db);
  let hasCrashed = false;
  const inTurn = (async (party: string, work: (on: Db) => Promise<unknown>) =>
    hasCrashed ? undefined : reads.inTurn(party, work)) as Reads["inTurn"];
  const signal = new AbortController().signal;
  const follower = await Follower.open({ ...reads, inTurn }, { asked, scope: "", signal });
  const ended = follower.run();
  const waiting = follower.newsBehind(follower.count, { waitMs: 60_000, signal });
  hasCrashed = true;
  expect(await Promise.race([waiting.then((news) => ({ news })), pause(20_000)])).toEqual({ news: undefined });
  await ended;
  expect(await follower.newsBehind(follower.count, { waitMs: 60_000, signal })).toBeUndefined();
});

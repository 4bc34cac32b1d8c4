import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { ScanDecided } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { AnnulScanRequest } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, minute, noon, place, positionFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, scan, startCheckin } from "../testing/start-checkin.ts";
import { toArrivedScan } from "../wire/scan-messages.ts";
import { createCheckinReaders } from "./redeem/checkin-readers.ts";
import { readAndDecide } from "./redeem/decide-batch.ts";
import { storeDecided } from "./redeem/store-decided.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
let list: number;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
  list = (await checkin.createList()).id;
});

const redeem = async (changes: Parameters<typeof scan>[2] = {}, code = "secret1") =>
  inWord(await checkin.redeem(scan(list, code, changes)));

const annul = (nonce: string, changes: Partial<AnnulScanRequest> = {}) =>
  checkin.history.annulScan({ organizer: place.organizer, lists: [list], nonce, ...changes }).then(
    () => "annulled",
    ({ code, fields }: { code: string; fields?: Record<string, string[]> }) =>
      fields === undefined ? code : (Object.values(fields)[0]?.[0] ?? code),
  );

const history = () =>
  db.many(
    sql`select scan.type, scan.reason, scan.explanation, scan.annulled_at is null as stays from scan order by scan.id`,
  );
const presences = () =>
  db.many(sql`
    select presence.entries, presence.last_type as type, presence.last_at as at
      from presence
     where presence.last_at is not null`);
const status = async () => {
  const { checkinCount, insideCount } = await checkin.lists.getCheckinListStatus({ ...place, id: list });
  return [checkinCount, insideCount];
};

const countsOfScans = async () => (await recount(db)).recounted;
const counts = async () => (await recount(db)).counted;

describe("[E6.10] an annulment between the read and the write of another scan", () => {
  const tools = { db, readers: createCheckinReaders(), withIds: true, events: { scansFailed: () => {} } };
  const read = async (nonce: string) => {
    const sent = scan(list, "secret1", { nonce, at: noon + 2 * minute });
    const decided = await readAndDecide(tools, [
      toArrivedScan(sent, { now: noon, traceparent: undefined, mayBeNew: false }),
    ]);
    return decided.filter((each) => "verdict" in each);
  };

  it("does not admit two visitors, though both versions of the presence are the first", async () => {
    await redeem({ nonce: "out", type: ScanType.EXIT });
    const second = await read("second");
    expect(await annul("out")).toBe("annulled");
    expect(await redeem({ nonce: "first", at: noon + minute })).toBe("admitted");
    expect([second.length, await storeDecided(tools, second)]).toEqual([1, new Set()]);
    expect(await presences()).toEqual([{ entries: 1, type: "entry", at: noon + minute }]);
  });

  it("leaves right counts", async () => {
    list = (await checkin.createList({ allowMultipleEntries: true })).id;
    await redeem({ nonce: "in" });
    const again = await read("again");
    expect(await annul("in")).toBe("annulled");
    await redeem({ nonce: "out", type: ScanType.EXIT, at: noon + minute });
    expect([again.length, await storeDecided(tools, again)]).toEqual([1, new Set()]);
    expect(await counts()).toEqual(await countsOfScans());
  });
});

describe("[E6.8] a scan that is annulled", () => {
  it("did not succeed, and its ticket may be scanned again, with its nonce, too", async () => {
    await redeem({ nonce: "one" });
    expect(await status()).toEqual([1, 1]);
    expect(await annul("one", { explanation: "Wrong gate" })).toBe("annulled");
    expect(await history()).toEqual([{ type: "entry", reason: "annulled", explanation: "Wrong gate", stays: false }]);
    expect(await presences()).toEqual([]);
    expect(await status()).toEqual([0, 0]);
    expect(await redeem({ nonce: "one" })).toBe("admitted");
    expect(await redeem({ nonce: "two" })).toBe("already_redeemed");
    expect(await counts()).toEqual(await countsOfScans());
  });

  it("leaves the scans before it: an exit that is taken back leaves the visitor inside", async () => {
    await redeem({ nonce: "in" });
    await redeem({ nonce: "out", type: ScanType.EXIT, at: noon + minute });
    expect(await annul("out")).toBe("annulled");
    expect(await presences()).toEqual([{ entries: 1, type: "entry", at: noon }]);
    expect(await status()).toEqual([1, 1]);
    expect(await redeem({ nonce: "again" })).toBe("already_redeemed");
    expect(await counts()).toEqual(await countsOfScans());
  });

  it("may be older than others: of two entries the later one stays", async () => {
    await redeem({ nonce: "first" });
    await redeem({ nonce: "second", force: true, at: noon + minute });
    expect(await annul("first")).toBe("annulled");
    expect(await presences()).toEqual([{ entries: 1, type: "entry", at: noon + minute }]);
    expect(await counts()).toEqual(await countsOfScans());
  });

  it("is published once more, as one that failed", async () => {
    await redeem({ nonce: "one" });
    await annul("one");
    const facts = await db.many<{ fact_id: string; payload: Buffer }>(
      sql`select outbox.fact_id, outbox.payload from outbox where outbox.topic = ${topics.scanDecided.name} order by outbox.id`,
    );
    expect(new Set(facts.map(({ fact_id }) => fact_id)).size).toBe(2);
    expect(facts.map(({ payload }) => ScanDecided.decode(payload))).toMatchObject([
      { successful: true },
      { successful: false, reason: "annulled", position: 1 },
    ]);
  });

  it("is annulled once where its request comes again", async () => {
    await redeem({ nonce: "one" });
    const requestId = "6f1c2b5e-0a55-4b0f-9d1e-3c8ad1f5a001";
    const again = () => runInContext({ requestId }, () => annul("one"));
    expect([await again(), await again(), await annul("one")]).toEqual([
      ...["annulled", "annulled"],
      "This check-in did not succeed, or was annulled before.",
    ]);
  });
});

describe("[E6.9] no scan is annulled", () => {
  it("that is unknown, on another list, or of another device", async () => {
    await redeem({ nonce: "one", deviceId: 3 });
    const other = (await checkin.createList({ name: "Other" })).id;
    expect(await annul("unknown", { deviceId: 3 })).toBe("scan_not_found");
    expect(await annul("one", { lists: [other], deviceId: 3 })).toBe("scan_not_found");
    expect(await annul("one", { deviceId: 4 })).toBe("scan_not_found");
    expect(await annul("one")).toBe("Only the device that made a check-in can annul it.");
    expect(await annul("one", { lists: [77] })).toContain("77");
    expect(await annul("one", { among: { slugs: ["other"] } })).toContain(`${list}`);
    expect(await annul("one", { deviceId: 3 })).toBe("annulled");
  });

  it("a device finds no scan of a key", async () => {
    await redeem({ nonce: "one" });
    expect(await annul("one", { deviceId: 3 })).toBe("scan_not_found");
  });

  it("that was refused; beside a successful one under its nonce the refusal does not count", async () => {
    await redeem({ nonce: "first" });
    await redeem({ nonce: "refused" });
    expect(await annul("refused")).toBe("This check-in did not succeed, or was annulled before.");
    expect(await annul("first")).toBe("annulled");
    await redeem({ nonce: "refused" });
    expect(await annul("refused")).toBe("annulled");
    expect(await counts()).toEqual(await countsOfScans());
  });

  it("more than 15 minutes after it was made, as its device tells the time", async () => {
    await redeem({ nonce: "one" });
    const late = "A check-in can be annulled within 15 minutes.";
    expect(await annul("one", { at: noon + 15 * minute + 1 })).toBe(late);
    checkin.clock.at = noon + 16 * minute;
    expect(await annul("one")).toBe(late);
    expect(await annul("one", { at: noon + 15 * minute })).toBe("annulled");
  });

  it("where two have its nonce", async () => {
    await redeem({ nonce: "same" });
    await redeem({ nonce: "same" }, "secret2");
    expect(await annul("same")).toBe("Several check-ins have this nonce.");
  });
});

describe("[E6.10] at the same time", () => {
  it("of many annulments of one scan one succeeds", async () => {
    await redeem({ nonce: "one" });
    const words = await Promise.all(Array.from({ length: 20 }, () => annul("one")));
    expect(words.filter((word) => word === "annulled")).toHaveLength(1);
    expect(await counts()).toEqual(await countsOfScans());
  });

  it("scans and annulments end with counts and presences of the scans that stay", async () => {
    for (let round = 0; round < 30; round += 1) {
      await redeem({ nonce: `first${round}` });
      await Promise.all([
        annul(`first${round}`),
        redeem({ nonce: `second${round}` }),
        redeem({ nonce: `out${round}`, type: ScanType.EXIT }),
        annul(`out${round}`),
        redeem({ nonce: `third${round}` }),
      ]);
    }
    expect(await counts()).toEqual(await countsOfScans());
    const [presence] = await presences();
    const [truth] = await db.many(sql`
      select count(*) filter (where scan.type = 'entry') as entries,
             (array_agg(scan.type order by scan.at desc, scan.id desc))[1] as type, max(scan.at) as at
        from scan where scan.successful having count(*) > 0`);
    expect(presence).toEqual(truth);
  });

  it("a change of the ticket keeps its counts", async () => {
    await redeem({ nonce: "one" });
    await Promise.all([
      annul("one"),
      checkin.deliver(topics.positionChanged, [positionFact(1, { canceled: true }, { revision: 2 })]),
    ]);
    expect(await counts()).toEqual(await countsOfScans());
  });
});

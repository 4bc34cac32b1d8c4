import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { ScanDecided } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { FailedScan, RecordFailedScanRequest } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, minute, noon, place, positionFact, subeventFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, scan, startCheckin } from "../testing/start-checkin.ts";

let list: number;
let otherList: number;

const variation = (id: number) => ({ id, value: { en: "S" }, position: 1, checkinAttention: false });

const { database, db } = await checkinDatabase();
const checkin = await startCheckin(db);
/** Two replicas, each with its own connections. */
const replicas = [checkin, await startCheckin(database.open("checkin"))] as const;
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true }), eventFact({ event: "single" })]);
  await checkin.deliver(topics.itemChanged, [
    itemFact(10, { variations: [variation(101), variation(102)] }),
    { ...itemFact(99, { variations: [variation(199)] }), event: "single" },
  ]);
  await checkin.deliver(topics.subeventChanged, [
    subeventFact(1),
    subeventFact(2),
    { ...subeventFact(9), event: "single" },
  ]);
  await checkin.deliver(topics.positionChanged, [
    positionFact(1, { subevent: 1 }),
    positionFact(2, { subevent: 2 }),
    positionFact(3, { subevent: 1, canceled: true }),
    { ...positionFact(90), event: "single" },
  ]);
  list = (await checkin.createList({ subevent: 1 })).id;
  otherList = (await checkin.createList()).id;
});

const request = (
  changes: Partial<FailedScan> = {},
  around: Partial<Omit<RecordFailedScanRequest, "scan">> = {},
): RecordFailedScanRequest => ({
  ...place,
  list,
  ...around,
  scan: { reason: "unpaid", rawCode: "nobody's", sourceType: "barcode", type: ScanType.ENTRY, ...changes },
});

const tell = async (...sent: Parameters<typeof request>) =>
  (await checkin.history.recordFailedScan(request(...sent))).scan;

const storedScans = () =>
  checkin.db.many<{ position: number | null; reason: string | null }>(sql`
    select scan.list, scan.position, scan.type, scan.successful, scan.reason, scan.explanation, scan.raw_code,
           scan.source_type, scan.raw_item, scan.raw_variation, scan.raw_subevent, scan.at, scan.nonce, scan.device_id,
           scan.gate, scan.forced, scan.force_sent, scan.auto_checked_in
      from scan
     order by scan.id`);

const countStored = async () => (await storedScans()).length;

const told = async () =>
  (
    await checkin.db.many<{ key: string; payload: Buffer }>(sql`
      select outbox.key, outbox.payload
        from outbox
       where outbox.topic = ${topics.scanDecided.name}
       order by outbox.id`)
  ).map(({ key, payload }) => ({ key, ...ScanDecided.decode(payload) }));

const unknown = (code: string) => ({ kind: "not_found", code });

describe("a refusal that a device reports", () => {
  const whole: Partial<FailedScan> = {
    reason: "product",
    explanation: "Not for this door",
    rawCode: "binary:AAECAw==",
    sourceType: "nfc_uid",
    rawItem: 10,
    rawVariation: 102,
    rawSubevent: 2,
    nonce: "n",
    at: noon - 5 * minute + 1,
    type: ScanType.EXIT,
    position: 1,
  };

  it("[C6.1, C6.3, C6.8] is stored whole, as forced and with device and gate, and published", async () => {
    expect(await tell(whole, { deviceId: 3, gate: 7 })).toEqual(request(whole).scan);
    expect(await storedScans()).toEqual([
      {
        list,
        position: 1,
        type: "exit",
        successful: false,
        reason: "product",
        explanation: "Not for this door",
        raw_code: "binary:AAECAw==",
        source_type: "nfc_uid",
        raw_item: 10,
        raw_variation: 102,
        raw_subevent: 2,
        at: noon - 5 * minute + 1,
        nonce: "n",
        device_id: 3,
        gate: 7,
        forced: true,
        force_sent: true,
        auto_checked_in: false,
      },
    ]);
    const { id } = await checkin.db.one<{ id: number }>(sql`select scan.id from scan`);
    const fact = { ...place, scan: id, list, position: 1, type: ScanType.EXIT, successful: false, reason: "product" };
    expect(await told()).toEqual([{ key: topics.scanDecided.key({ ...fact, at: 0 }), ...fact, at: whole.at }]);
  });

  it("[C6.1] was scanned now where its device does not say when, and as late as it says", async () => {
    expect(await tell()).toMatchObject({ at: noon });
    expect(await tell({ at: noon + 6 * minute })).toMatchObject({ at: noon + 6 * minute });
    expect(checkin.lines.filter((line) => line.includes("dated in the future"))).toHaveLength(1);
    expect(checkin.lines.join("\n")).not.toContain("nobody's");
  });

  it("[C6.9] changes nothing about the ticket, and does not stand in the way of a later admission", async () => {
    await tell({ rawCode: "secret1", nonce: "n", reason: "already_redeemed" });
    expect(inWord(await checkin.redeem(scan(list, "secret1", { nonce: "n" })))).toBe("admitted");
    const { counted, recounted } = await recount(checkin.db);
    expect(counted).toEqual(recounted);
    expect(await countStored()).toBe(2);
  });

  it("[C6.6] needs a list of the event, before anything else is looked up", async () => {
    const wrong = { position: 999, rawItem: 999 };
    await expect(tell(wrong, { list: 999 })).rejects.toMatchObject(unknown("checkin_list_not_found"));
    await expect(tell({}, { event: "single" })).rejects.toMatchObject(unknown("checkin_list_not_found"));
    await expect(tell({}, { event: "elsewhere" })).rejects.toMatchObject(unknown("event_not_found"));
    expect(await countStored()).toBe(0);
  });

  it("[C6.10] may name any position of the event, and none of another", async () => {
    for (const position of [1, 2, 3]) expect(await tell({ position })).toMatchObject({ position });
    for (const position of [90, 999]) {
      await expect(tell({ position, rawItem: 999 })).rejects.toMatchObject(unknown("position_not_found"));
    }
    expect(await countStored()).toBe(3);
  });

  it("[C6.11] is named every product, variation and date that is not of the event", async () => {
    const foreign = { rawItem: 99, rawVariation: 199, rawSubevent: 9 };
    await expect(tell(foreign)).rejects.toMatchObject({
      kind: "invalid",
      fields: {
        raw_item: [expect.any(String)],
        raw_variation: [expect.any(String)],
        raw_subevent: [expect.any(String)],
      },
    });
    await expect(tell({ rawItem: 10, rawVariation: 10 })).rejects.toMatchObject({
      fields: { raw_variation: [expect.any(String)] },
    });
    const single = await checkin.lists.createCheckinList({
      organizer: place.organizer,
      event: "single",
      fields: { ...(await checkin.createList()).fields, name: "x" } as never,
    });
    const there = { event: "single", list: single.list?.id ?? 0 };
    await expect(tell({ rawSubevent: 9 }, there)).rejects.toMatchObject({
      fields: { raw_subevent: [expect.any(String)] },
    });
    expect(await tell({ rawItem: 99, rawVariation: 199 }, there)).toMatchObject({ rawItem: 99, rawVariation: 199 });
  });

  it("[C6.4] is without what the event does not have, where that may be left out", async () => {
    const foreign = { rawItem: 10, rawVariation: 199, rawSubevent: 9 };
    expect(await tell(foreign, { leavesOutUnknown: true })).toMatchObject({ rawItem: 10 });
    const [stored] = await checkin.db.many(
      sql`select scan.raw_item, scan.raw_variation, scan.raw_subevent from scan order by scan.id desc limit 1`,
    );
    expect(stored).toEqual({ raw_item: 10, raw_variation: null, raw_subevent: null });
  });

  it("[C6.12] belongs to the position that has its code for a secret, to the letter", async () => {
    expect(await tell({ rawCode: "secret2" })).toMatchObject({ position: 2 });
    expect(await tell({ rawCode: "secret3" })).toMatchObject({ position: 3 });
    for (const rawCode of ["SECRET2", "secret", "secret90", "2"]) {
      expect((await tell({ rawCode }))?.position).toBeUndefined();
    }
    expect(await tell({ rawCode: "secret2", position: 1 })).toMatchObject({ position: 1 });
    await checkin.deliver(topics.positionChanged, [positionFact(4, { subevent: 1, secret: "secret3" })]);
    expect(await tell({ rawCode: "secret3" })).toMatchObject({ position: 4 });
  });

  it("[C6.8] goes with its list, and with its position", async () => {
    await tell({ position: 1 });
    await tell({ position: 2 });
    await tell({ position: 2 }, { list: otherList });
    await checkin.deliver(topics.positionChanged, [topics.positionChanged.key(positionFact(1))]);
    expect((await storedScans()).map(({ position }) => position)).toEqual([2, 2]);
    await checkin.lists.deleteCheckinList({ ...place, id: list });
    expect(await countStored()).toBe(1);
  });
});

describe("a refusal that comes again", () => {
  const nonce = "n";

  it("[C6.13] is stored each time without a nonce, and once when it is the same request", async () => {
    await tell();
    await tell();
    expect(await countStored()).toBe(2);
    const requestId = randomUUID();
    const again = () => runInContext({ requestId }, () => tell());
    expect(await again()).toEqual(await again());
    expect(await countStored()).toBe(3);
  });

  it("[C6.14] is known by nonce and ticket, on whatever list, where its code has led to the ticket", async () => {
    const first = await tell({ rawCode: "secret1", nonce });
    const again = await tell({ rawCode: "secret1", nonce, reason: "rules" }, { list: otherList });
    expect(again).toEqual(first);
    expect(await countStored()).toBe(1);
    await tell({ rawCode: "secret2", nonce });
    await tell({ rawCode: "secret1", nonce: "N" });
    expect(await countStored()).toBe(3);
  });

  it("[C6.15] is recognized by nonce, list and code if its device names the ticket or the code is unknown", async () => {
    for (const position of [undefined, 1]) {
      const before = await countStored();
      const sent = { rawCode: `code of ${position}`, nonce, ...(position === undefined ? {} : { position }) };
      expect(await tell({ ...sent, at: noon + 1 })).toEqual(await tell(sent));
      expect(await countStored()).toBe(before + 1);
      await tell({ ...sent, rawCode: `another ${position}` });
      await tell(sent, { list: otherList });
      expect(await countStored()).toBe(before + 3);
    }
  });

  it("[C6.16] is not the same as a scan that has succeeded with its nonce, nor as one of another event", async () => {
    expect(inWord(await checkin.redeem(scan(list, "secret1", { nonce })))).toBe("admitted");
    await tell({ rawCode: "secret1", nonce });
    await checkin.deliver(topics.eventChanged, [eventFact({ organizer: "others" })]);
    const elsewhere = { organizer: "others", event: place.event };
    const { fields } = await checkin.createList();
    const { list: there } = await checkin.lists.createCheckinList({ ...elsewhere, fields });
    await tell({ rawCode: "secret1", nonce }, { ...elsewhere, list: there?.id ?? 0 });
    expect(await countStored()).toBe(3);
  });

  it("[C6.16] is the same as one that was refused here with its nonce", async () => {
    expect(inWord(await checkin.redeem(scan(list, "unheard of", { nonce })))).toBe("unknownTicket");
    expect(await tell({ rawCode: "unheard of", nonce, reason: "error" })).toMatchObject({ reason: "invalid", nonce });
    expect(await countStored()).toBe(1);
  });

  it("[C6.17] is stored once, however many come at the same moment", async () => {
    const sent = Array.from({ length: 50 }, (_, index) =>
      (replicas[index % 2] ?? checkin).history.recordFailedScan(
        request({ rawCode: "secret1", nonce, at: noon + index }, { list: index % 3 === 0 ? list : otherList }),
      ),
    );
    const answers = await Promise.all(sent);
    expect(await countStored()).toBe(1);
    expect(await told()).toHaveLength(1);
    expect(new Set(answers.map(({ scan: answered }) => answered?.at)).size).toBe(1);
  });

  it("[C6.17] leaves nothing behind on a list that is deleted, or of a position that goes, at the same moment", async () => {
    const sent = Array.from({ length: 30 }, (_, index) =>
      (replicas[index % 2] ?? checkin).history.recordFailedScan(
        request(index % 2 === 0 ? { position: 1 } : { rawCode: "secret2" }, {
          list: index % 3 === 0 ? list : otherList,
        }),
      ),
    );
    const gone = [
      checkin.lists.deleteCheckinList({ ...place, id: list }),
      checkin.deliver(topics.positionChanged, [topics.positionChanged.key(positionFact(1))]),
    ];
    const answers = await Promise.allSettled(sent);
    await Promise.all(gone);
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ kind: "not_found" });
    }
    const left = await checkin.db.many(sql`
      select scan.list, scan.position from scan where scan.list = ${list} or scan.position = 1`);
    expect(left).toEqual([]);
  });
});

import { sql } from "@tessera/kit/pg/sql";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { OrderCheckins } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { earlierCheckin, eventFact, itemFact, minute, noon, place, positionFact } from "../testing/facts.ts";
import { inWord, listFields, scan, startCheckin } from "../testing/start-checkin.ts";

let list: number;
let otherList: number;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  list = (await checkin.createList({ allowMultipleEntries: true })).id;
  otherList = (await checkin.createList()).id;
  await checkin.deliver(
    topics.positionChanged,
    [1, 2, 3].map((id) => positionFact(id)),
  );
});

/** An event. */
type Of = Readonly<Record<keyof typeof place, string>>;
const elsewhere = { ...place, event: "elsewhere" };
const now = async () => (await db.one<{ at: number }>(sql`select clock_timestamp() as at`)).at;
const since = async (at: number, of: Of = place) => {
  const { positions, tooMany } = await checkin.connect(OrderCheckins).findScannedSince({ ...of, since: at });
  return tooMany ? "too many" : positions.sort();
};
const checkins = async (positions: number[], of: Of = place) => {
  const found = await checkin.connect(OrderCheckins).findCheckins({ ...of, positions });
  return new Map(found.positions.map((each) => [each.position, each]));
};
/** Moves all scans into the past, beyond the margin. */
const age = () => db.run(sql`update scan set created_at = created_at - interval '1 hour'`);

describe("tickets that were scanned since a time", () => {
  it("[E4.6] are those of successful scans on any list, by when they came", async () => {
    const before = await now();
    await checkin.redeem(scan(list, "secret1", { at: noon - 60 * minute }));
    await checkin.redeem(scan(otherList, "secret2"));
    await checkin.redeem(scan(otherList, "secret2"));
    await age();
    expect(await since(before)).toEqual([]);
    expect(inWord(await checkin.redeem(scan(otherList, "secret2")))).toBe("already_redeemed");
    expect(await since(before)).toEqual([]);
    await checkin.redeem(scan(otherList, "secret3", { type: ScanType.EXIT }));
    expect(await since(before)).toEqual([3]);
    expect(await since(before - 2 * 60 * minute)).toEqual([1, 2, 3]);
    expect(await since(before, elsewhere)).toEqual([]);
  });

  it("[E4.6] are those of scans that were annulled since, whenever they were made", async () => {
    await checkin.redeem(scan(list, "secret1", { nonce: "n1" }));
    await checkin.redeem(scan(list, "secret2", { nonce: "n2" }));
    await age();
    const before = await now();
    await checkin.history.annulScan({ organizer: place.organizer, lists: [list], nonce: "n1" });
    expect(await since(before)).toEqual([1]);
    expect([...(await checkins([1, 2])).keys()]).toEqual([2]);
  });

  it("[E4.6] are told, too, if the scan was made elsewhere", async () => {
    const before = await now();
    const earlierCheckins = [earlierCheckin(500, { list, at: noon - 60 * minute })];
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { earlierCheckins, revision: 2 })]);
    expect(await since(before)).toEqual([1]);
  });

  it("[E4.6] are not missed if the scan was being stored at that time", async () => {
    const begun = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const slow = db.transaction(async (tx) => {
      await tx.run(sql`
        insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
        values (${place.organizer}, ${place.event}, nextval('scan_id'), ${list}, 2, 'entry', true, now(), false, false, false)`);
      begun.resolve();
      await commit.promise;
    });
    await begun.promise;
    const asked = await now();
    expect(await since(asked)).toEqual([]);
    commit.resolve();
    await slow;
    expect(await since(asked)).toEqual([2]);
  });

  it("[E4.6] are not named if they are too many", async () => {
    const before = await now();
    const many = (count: number) =>
      db.run(sql`
        insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
        select ${place.organizer}, ${place.event}, nextval('scan_id'), ${list}, 1 + number % 3, 'entry', true, now(), false,
               false, false
          from generate_series(1, ${count}) as number`);
    await many(20_000);
    expect(await since(before)).toEqual([1, 2, 3]);
    await many(1);
    expect(await since(before)).toBe("too many");
  });
});

describe("the scans of tickets", () => {
  it("[E4.6] are the successful ones on all lists, newest first", async () => {
    const before = await now();
    await checkin.redeem(scan(list, "secret1", { at: noon }));
    await checkin.redeem(scan(otherList, "secret1", { at: noon + minute }));
    expect(inWord(await checkin.redeem(scan(otherList, "secret1")))).toBe("already_redeemed");
    await checkin.redeem(scan(list, "secret1", { at: noon - minute, type: ScanType.EXIT }));
    const found = await checkins([1, 2, 99]);
    expect([...found.keys()]).toEqual([1]);
    expect(found.get(1)).toMatchObject({
      checkins: [
        { list: otherList, at: noon + minute, type: ScanType.ENTRY },
        { list, at: noon, type: ScanType.ENTRY },
        { list, at: noon - minute, type: ScanType.EXIT },
      ],
    });
    expect(found.get(1)?.createdAt).toBeGreaterThanOrEqual(before);
    expect(await checkins([])).toEqual(new Map());
  });

  it("[E4.6] are at most 100 of a ticket", async () => {
    for (let turn = 0; turn < 3; turn += 1) await checkin.redeem(scan(list, "secret1", { at: noon + turn * minute }));
    await db.run(sql`
      insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
      select ${place.organizer}, ${place.event}, nextval('scan_id'), ${list}, 1, 'exit', true, now() + number * interval '1 second',
             false, false, false
        from generate_series(1, 120) as number`);
    const found = (await checkins([1])).get(1)?.checkins ?? [];
    expect(found).toHaveLength(100);
    expect(found.map(({ at }) => at)).toEqual(found.map(({ at }) => at).sort((one, other) => other - one));
  });

  it("[S1.3, E4.6] are of one event, whatever has the same id elsewhere", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact(elsewhere)]);
    await checkin.deliver(topics.itemChanged, [itemFact(10, elsewhere)]);
    const there = await checkin.lists.createCheckinList({ ...elsewhere, fields: listFields() });
    await checkin.deliver(topics.positionChanged, [{ ...positionFact(1), ...elsewhere }]);
    await checkin.redeem(scan(there.list?.id ?? 0, "secret1", elsewhere));
    expect((await checkins([1])).size).toBe(0);
    expect((await checkins([1], elsewhere)).size).toBe(1);
    expect((await checkins([1], { ...place, organizer: "others" })).size).toBe(0);
  });

  it("[E4.6] are asked for of few tickets at a time", async () => {
    const ids = Array.from({ length: 10_001 }, (_, index) => index + 1);
    await expect(checkins(ids)).rejects.toMatchObject({ code: "too_many_checkins" });
    expect((await checkins(ids.slice(1))).size).toBe(0);
  });
});

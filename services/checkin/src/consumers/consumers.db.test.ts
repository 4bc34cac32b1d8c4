import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { removeList } from "../store/lists.ts";
import { checkinDatabase } from "../testing/database.ts";
import {
  categoryFact,
  earlierCheckin,
  eventFact,
  itemFact,
  minute,
  noon,
  order,
  place,
  positionFact,
  subeventFact,
} from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, scan, startCheckin } from "../testing/start-checkin.ts";
import { untilLockWait } from "../testing/until-lock-wait.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(() => checkin.reset());

const secretOf = async (id: number) =>
  (await checkin.db.maybeOne<{ secret: string }>(sql`select position.secret from position where position.id = ${id}`))
    ?.secret;

const expectTrueCounts = async () => {
  const { counted, recounted } = await recount(checkin.db);
  expect(counted).toEqual(recounted);
};

describe("copies of the catalogue", () => {
  it("keep the newest state, whatever order facts come in", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 5, timezone: "Asia/Tokyo" })]);
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 4, timezone: "UTC" })]);
    await checkin.deliver(topics.eventChanged, [
      eventFact({ revision: 6, timezone: "Africa/Cairo" }),
      eventFact({ revision: 7, timezone: "Africa/Lagos" }),
    ]);
    const { timezone } = await checkin.db.one<{ timezone: string }>(sql`select event.timezone from event`);
    expect(timezone).toBe("Africa/Lagos");
  });

  it("delete what was deleted, and treat what is created again as new", async () => {
    const { subeventChanged, categoryChanged, itemChanged, eventChanged } = topics;
    await checkin.deliver(eventChanged, [eventFact({ revision: 9 })]);
    await checkin.deliver(subeventChanged, [subeventFact(1), subeventFact(2)]);
    await checkin.deliver(categoryChanged, [categoryFact(1, 1), categoryFact(2, 2)]);
    await checkin.deliver(itemChanged, [itemFact(1, { revision: 9 }), itemFact(2), { ...itemFact(1), event: "other" }]);
    await checkin.deliver(subeventChanged, ["bigevents/sampleconf/1"]);
    await checkin.deliver(categoryChanged, ["bigevents/sampleconf/1"]);
    await checkin.deliver(itemChanged, ["bigevents/sampleconf/1", itemFact(1, { revision: 1, checkinText: "new" })]);
    await checkin.deliver(eventChanged, ["bigevents/sampleconf/"]);
    const rows = await checkin.db.one(sql`
      select array(select event.event from event) as events,
             array(select subevent.id::integer from subevent) as subevents,
             array(select category.id::integer from category) as categories,
             array(select item.event || item.id || coalesce(item.checkin_text, '') from item order by 1) as items`);
    expect(rows).toEqual({
      events: [],
      subevents: [2],
      categories: [2],
      items: ["other1", "sampleconf1new", "sampleconf2"],
    });
  });
});

describe("copies of positions", () => {
  it("[R3.51] follow a changed code at once: the old one is unknown", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id } = await checkin.createList();
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "old" })]);
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "new" }, { revision: 2 })]);
    expect((await checkin.redeemAll([scan(id, "old"), scan(id, "new")])).map(inWord)).toEqual([
      "unknownTicket",
      "admitted",
    ]);
  });

  it("ignore older states, singly and in one batch", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "three" }, { revision: 3 })]);
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "two" }, { revision: 2 })]);
    expect(await secretOf(1)).toBe("three");
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { secret: "four" }, { revision: 4 }),
      positionFact(1, { secret: "five", item: 11 }, { revision: 5 }),
    ]);
    expect(await secretOf(1)).toBe("five");
    await expectTrueCounts();
  });

  it("keep events apart", async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      { ...positionFact(1, { item: 11 }), event: "other" },
    ]);
    await checkin.deliver(topics.positionChanged, ["bigevents/other/1"]);
    expect(await secretOf(1)).toBe("secret1");
    await expectTrueCounts();
  });

  it("[R4.7] take secrets that no index has room for, and tell those apart that begin alike", async () => {
    const secret = (end: string) =>
      `${Array.from({ length: 999 }, (_, at) => String.fromCodePoint(0x1_0000 + ((at * 104_729) % 60_000))).join("")}${end}`;
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    await checkin.deliver(
      topics.positionChanged,
      ["a", "b"].map((end, index) => positionFact(index + 1, { secret: secret(end) })),
    );
    const { id: list } = await checkin.createList();
    const scanned = await checkin.redeemAll(["a", "b", "c", ""].map((end) => scan(list, secret(end))));
    expect(scanned.map(inWord)).toEqual(["admitted", "admitted", "unknownTicket", "unknownTicket"]);
    expect(scanned.map(({ position }) => position?.position?.id)).toEqual([1, 2, undefined, undefined]);
  });

  it("stop at a fact that makes no sense, and at no other", async () => {
    const facts = [positionFact(1), { ...place, revision: 1, earlierCheckins: [] }, positionFact(2)];
    await expect(checkin.deliver(topics.positionChanged, facts)).rejects.toThrow("parked");
    expect([await secretOf(1), await secretOf(2)]).toEqual(["secret1", "secret2"]);
  });

  it("take 500 facts together, at a small part of what they cost alone", async () => {
    const facts = (revision: number, count: number) =>
      Array.from({ length: count }, (_, index) =>
        positionFact(index, { secret: `s${revision}-${index}` }, { revision }),
      );
    const timeOf = async (revision: number, count: number) => {
      const start = performance.now();
      await checkin.deliver(topics.positionChanged, facts(revision, count));
      return performance.now() - start;
    };
    const [alone, together]: [number[], number[]] = [[], []];
    for (let revision = 1; revision <= 20; revision += 2) {
      alone.push(await timeOf(revision, 1));
      together.push(await timeOf(revision + 1, 500));
    }
    expect(Math.min(...together)).toBeLessThan(100 * Math.min(...alone));
  });
});

describe("tickets that change what they count as", () => {
  beforeEach(async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id } = await checkin.createList({ includePending: true });
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2), positionFact(3)]);
    await checkin.redeemAll([
      scan(id, "secret1"),
      scan(id, "secret2"),
      scan(id, "secret2", { type: "SCAN_TYPE_EXIT" }),
    ]);
    await expectTrueCounts();
  });

  it.each([
    ["another item", { item: 11 }],
    ["another variation", { variation: 5 }],
    ["another date", { subevent: 7 }],
    ["payment undone", { order: order({ status: "ORDER_STATUS_PENDING" }) }],
    ["cancellation of the order", { order: order({ status: "ORDER_STATUS_CANCELED" }) }],
    ["cancellation of the position", { canceled: true }],
    ["nothing of it", { attendeeName: "Renamed" }],
  ])("take their scans along: %s", async (_name, changes) => {
    const ids = [1, 2, 3];
    await checkin.deliver(
      topics.positionChanged,
      ids.map((id) => positionFact(id, changes, { revision: 2 })),
    );
    await expectTrueCounts();
    await checkin.deliver(
      topics.positionChanged,
      ids.map((id) => positionFact(id, {}, { revision: 3 })),
    );
    await expectTrueCounts();
    const [list] = (
      await checkin.lists.listCheckinLists({ ...place, page: 1, pageSize: 50, ordering: [], withCounts: true })
    ).lists;
    expect([list?.positionCount, list?.checkinCount]).toEqual([3, 2]);
  });

  it("lose their scans when they are deleted, and have none when they are created again", async () => {
    await checkin.deliver(topics.positionChanged, [
      "bigevents/sampleconf/1",
      "bigevents/sampleconf/2",
      positionFact(2, { item: 11 }),
    ]);
    await expectTrueCounts();
    const { scans } = await checkin.db.one<{ scans: number }>(sql`select count(*)::integer as scans from scan`);
    expect([await secretOf(1), await secretOf(2), scans]).toEqual([undefined, "secret2", 0]);
  });
});

describe("tickets that go while a list of theirs is deleted", () => {
  it.each([
    ["was scanned, and counts nowhere since it was canceled", {}, "secret1"],
    ["was only refused", { blocked: ["by a seat map"] }, "secret1"],
  ])("wait for the list before they touch anything: one that %s", async (_name, changes, code) => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id: list } = await checkin.createList();
    await checkin.deliver(topics.positionChanged, [positionFact(1, changes)]);
    await checkin.redeem(scan(list, code));
    await checkin.deliver(topics.positionChanged, [positionFact(1, { ...changes, canceled: true }, { revision: 2 })]);
    const { leaving } = await checkin.db.transaction(async (tx) => {
      await tx.run(sql`delete from list where list.id = ${list}`);
      const delivered = checkin.deliver(topics.positionChanged, ["bigevents/sampleconf/1"]);
      await untilLockWait(checkin.db);
      const free = await tx.many(sql`select scan.id from scan for update skip locked`);
      expect(free).toHaveLength(1);
      await removeList(tx, { ...place, id: list });
      return { leaving: delivered };
    });
    await leaving;
    expect(await checkin.db.many(sql`select scan.id from scan`)).toEqual([]);
    expect(await secretOf(1)).toBeUndefined();
    await expectTrueCounts();
  });
});

describe("scans made elsewhere", () => {
  let list: number;
  const history = async (id: number) => {
    const { position } = await checkin.positions.getPosition({ ...place, list, id, ignoreStatus: true });
    return position?.checkins.map(({ at, type }) => [at - noon, type.replace("SCAN_TYPE_", "")]);
  };

  beforeEach(async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    list = (await checkin.createList()).id;
  });

  const elsewhere = (id: number, changes = {}) => earlierCheckin(id, { list, ...changes });

  it("[R3.45] become history, and use the ticket up", async () => {
    const scanned = { gate: 4, device: 17, deviceId: 2, autoCheckedIn: true };
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { earlierCheckins: [elsewhere(70, scanned)] })]);
    const outcome = await checkin.redeem(scan(list, "secret1"));
    expect(inWord(outcome)).toBe("already_redeemed");
    expect(outcome.position?.checkins).toEqual([
      { id: expect.any(Number), list, at: noon, type: "SCAN_TYPE_ENTRY", ...scanned },
    ]);
    await expectTrueCounts();
  });

  it("[R3.48] are taken once, however often they are sent", async () => {
    const sent = [elsewhere(70), elsewhere(71, { exit: true, at: noon + minute })];
    const fact = (revision: number) => positionFact(1, {}, { revision, earlierCheckins: sent });
    await checkin.deliver(topics.positionChanged, [fact(1), fact(2)]);
    await checkin.deliver(topics.positionChanged, [fact(3)]);
    await checkin.deliver(topics.positionChanged, [fact(1)]);
    expect(await history(1)).toEqual([
      [minute, "EXIT"],
      [0, "ENTRY"],
    ]);
    await expectTrueCounts();
  });

  it("[R3.49] of two tickets are two, though they have one id", async () => {
    const fact = (id: number) => positionFact(id, {}, { earlierCheckins: [elsewhere(70, { at: noon + id * minute })] });
    await checkin.deliver(topics.positionChanged, [fact(1), fact(2)]);
    await checkin.deliver(topics.positionChanged, [fact(3), fact(1)]);
    for (const id of [1, 2, 3]) expect(await history(id)).toEqual([[id * minute, "ENTRY"]]);
    await expectTrueCounts();
  });

  it("[R3.46, R3.47] remove nothing that was scanned here, and stay when they are not sent again", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await checkin.redeem(scan(list, "secret1", { at: noon + minute }));
    const earlier = [elsewhere(70, { at: noon }), elsewhere(71, { at: noon + 1, exit: true })];
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, {}, { revision: 2, earlierCheckins: earlier }),
      positionFact(1, { item: 11 }, { revision: 3 }),
    ]);
    expect(await history(1)).toEqual([
      [minute, "ENTRY"],
      [1, "EXIT"],
      [0, "ENTRY"],
    ]);
    expect(inWord(await checkin.redeem(scan(list, "secret1")))).toBe("already_redeemed");
    await expectTrueCounts();
  });

  it("[R3.50] may come before their list", async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, {}, { earlierCheckins: [earlierCheckin(70, { list: 900 })] }),
    ]);
    const data = Buffer.from(JSON.stringify({ id: 900, name: "Late" }));
    await checkin.records.applyRecords({
      records: [{ line: 1, kind: "checkin_list", ...place, deleted: false, data }],
    });
    expect(await checkin.lists.getCheckinList({ ...place, id: 900 })).toMatchObject({ list: { checkinCount: 1 } });
    expect(inWord(await checkin.redeem(scan(900, "secret1")))).toBe("already_redeemed");
  });

  it("[R3.74] are not taken again on a list that was deleted, until the list is there again", async () => {
    const sendAgain = (revision: number) =>
      checkin.deliver(topics.positionChanged, [
        positionFact(1, {}, { revision, earlierCheckins: [earlierCheckin(70, { list: 15 })] }),
      ]);
    const list15 = ({ deleted }: { readonly deleted: boolean }) =>
      checkin.records.applyRecords({
        records: [
          {
            line: 1,
            kind: "checkin_list",
            ...place,
            deleted,
            data: Buffer.from(JSON.stringify({ id: 15, name: "Door" })),
          },
        ],
      });
    const stored = async () =>
      (
        await checkin.db.many<{ list: number }>(sql`
        select scan.list from scan union all select presence.list from presence`)
      ).map((row) => row.list);
    await list15({ deleted: false });
    await sendAgain(1);
    expect(await stored()).toEqual([15, 15]);
    await list15({ deleted: true });
    await sendAgain(2);
    expect(await stored()).toEqual([]);
    await expectTrueCounts();
    await list15({ deleted: false });
    await sendAgain(3);
    expect(await stored()).toEqual([15, 15]);
    await expectTrueCounts();
  });

  it("[R3.74] are not taken while their list is being deleted", async () => {
    const data = Buffer.from(JSON.stringify({ id: 15, name: "Door" }));
    await checkin.records.applyRecords({
      records: [{ line: 1, kind: "checkin_list", ...place, deleted: false, data }],
    });
    const { arriving } = await checkin.db.transaction(async (tx) => {
      await removeList(tx, { ...place, id: 15 });
      const delivered = checkin.deliver(topics.positionChanged, [
        positionFact(1, {}, { earlierCheckins: [earlierCheckin(70, { list: 15 })] }),
      ]);
      await untilLockWait(checkin.db);
      return { arriving: delivered };
    });
    await arriving;
    expect(await checkin.db.many(sql`select scan.id from scan`)).toEqual([]);
    expect(await secretOf(1)).toBe("secret1");
  });

  it("of a deleted ticket do not count", async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, {}, { earlierCheckins: [elsewhere(70)] }),
      "bigevents/sampleconf/1",
      positionFact(1, {}, { earlierCheckins: [elsewhere(71, { exit: true })] }),
    ]);
    expect(await history(1)).toEqual([[0, "EXIT"]]);
    await expectTrueCounts();
  });
});

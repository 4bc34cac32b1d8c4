import { sql } from "@tessera/kit/pg/sql";
import type { ExportPlace, ExportScansRequest } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { rollFrom } from "@tessera/testkit/dice";
import { erase } from "@tessera/testkit/erase";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, minute, noon, place, positionFact } from "../testing/facts.ts";
import { scan, startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);

let list: number;
let otherList: number;

const variation = { id: 5, value: { en: "Red", de: "Rot" }, position: 1, checkinAttention: false };

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10, { variations: [variation] }), itemFact(11)]);
  list = (await checkin.createList({ name: "=Door" })).id;
  otherList = (await checkin.createList({ name: "Stage", allowMultipleEntries: true })).id;
  await checkin.deliver(topics.positionChanged, [
    positionFact(1, { attendeeName: "Ada Lovelace", variation: 5 }),
    positionFact(2, { item: 11 }),
  ]);
});

type Asked = Partial<ExportScansRequest>;

const readPart = (changes: Asked = {}) =>
  checkin.history.exportScans(
    { ...place, isTable: false, type: ScanType.UNSPECIFIED, ...changes },
    { timeoutMs: 20_000 },
  );

/** Reads on from a place to the end. */
async function readText(changes: Asked = {}): Promise<string> {
  let text = "";
  for (let at: ExportPlace | undefined = changes.place, isFirst = true; isFirst || at !== undefined; isFirst = false) {
    const { lines, next } = await readPart({ ...changes, ...(at && { place: at }) });
    text += Buffer.from(lines).toString();
    at = next;
  }
  return text;
}

type Line = Readonly<Record<string, unknown>>;

const parse = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

const readAll = async (changes: Asked = {}) => parse(await readText(changes));

/** Stores many entries of the first ticket, a millisecond apart. */
const storeMany = (count: number, { explanation = null as string | null } = {}) =>
  db.run(sql`
    insert into scan (organizer, event, id, list, position, type, successful, reason, explanation, at, forced, force_sent, auto_checked_in)
    select ${place.organizer}, ${place.event}, nextval('scan_id'), ${otherList}, 1, 'entry', ${explanation === null},
           case when ${explanation === null} then null else 'error' end, ${explanation}::text,
           timestamptz '2026-11-21 12:00Z' + number * interval '1 millisecond', false, false, false
      from generate_series(1, ${count}::integer) as number`);

const storedIds = async () =>
  (await db.many<{ id: number }>(sql`select scan.id from scan order by scan.id`)).map(({ id }) => id);

describe("the export of scans", () => {
  it("[C8.1, C8.2] has entries, exits, refused and annulled ones, with names and without codes", async () => {
    await checkin.redeem(scan(list, "secret1", { deviceId: 3, gate: 5, nonce: "kept" }));
    await checkin.redeem(scan(list, "secret1", { deviceId: 3, at: noon + minute }));
    await checkin.redeem(scan(list, "nobody's", { at: noon - minute }));
    await checkin.redeem(scan(list, "secret1", { type: ScanType.EXIT, at: noon + 2 * minute }));
    await checkin.redeem(scan(otherList, "secret2", { nonce: "back", at: noon + 3 * minute }));
    await checkin.history.annulScan({
      organizer: place.organizer,
      lists: [otherList],
      nonce: "back",
      explanation: "No",
    });
    const lines = await readAll();
    const nothing = {
      variation: null,
      variation_name: null,
      subevent: null,
      gate: null,
      device: null,
      device_id: null,
    };
    expect(lines).toEqual([
      {
        ...{ id: expect.any(Number), datetime: "2026-11-21T12:00:00Z", created: expect.any(String), type: "entry" },
        ...{ successful: true, error_reason: null, error_explanation: null, list, list_name: "=Door", position: 1 },
        ...{ order: "ABC01", positionid: 1, item: 10, item_name: "Item 10", variation: 5, variation_name: "Red" },
        ...{ subevent: null, attendee_name: "Ada Lovelace", gate: 5, device: 3, device_id: 3, auto_checked_in: false },
      },
      expect.objectContaining({ successful: false, error_reason: "already_redeemed", device: 3 }),
      expect.objectContaining({
        ...{ successful: false, error_reason: "invalid", position: null, order: null, positionid: null, item: null },
        ...{ item_name: null, attendee_name: null, ...nothing },
      }),
      expect.objectContaining({ type: "exit", successful: true, datetime: "2026-11-21T12:02:00Z" }),
      expect.objectContaining({
        ...{ successful: false, error_reason: "annulled", error_explanation: "No", list: otherList },
        ...{ list_name: "Stage", item_name: "Item 11" },
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/secret|nobody|kept|back/);
  });

  it("[C8.3] is a table whose columns are the fields, without formulas", async () => {
    await checkin.redeem(scan(list, "secret1", { gate: 5 }));
    const [line] = await readAll();
    const [head, row, ...rest] = (await readText({ isTable: true })).split("\r\n");
    expect(head).toBe(Object.keys(line ?? {}).join(","));
    expect(row).toMatch(
      /^\d+,2026-11-21T12:00:00Z,[^,]+,entry,true,,,\d+,'=Door,1,ABC01,1,10,Item 10,5,Red,,Ada Lovelace,5,,,false$/,
    );
    expect(rest).toEqual([""]);
  });

  it("[C8.1] of an event without scans is empty, and its table has a head", async () => {
    expect(await readText()).toBe("");
    expect(await readText({ isTable: true })).toMatch(/^id,datetime,[^\n]*\r\n$/);
  });

  it("[C8.4] finds what the history finds, with any filter", async () => {
    const dice = rollFrom(Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31)));
    const { below, pick } = dice;
    for (let nr = 0; nr < 45; nr += 1) {
      await checkin.redeem(
        scan(pick([list, otherList]), pick(["secret1", "secret2", "nobody's"]), {
          ...{ at: noon + below(50) * minute, type: pick([ScanType.ENTRY, ScanType.EXIT]), nonce: `nonce ${nr}` },
          ...{ gate: pick([1, 2]), deviceId: pick([3, 4]), force: below(4) === 0 },
        }),
      );
    }
    for (let nr = 0; nr < 60; nr += 1) {
      const some = <T>(value: T) => (below(3) === 0 ? value : undefined);
      const filter = {
        ...{ atSince: some(noon + below(50) * minute), atBefore: some(noon + below(50) * minute) },
        ...{ successful: some(pick([true, false])), reason: some(pick(["invalid", "already_redeemed"])) },
        ...{ list: some(pick([list, otherList])), gate: some(pick([1, 2, 9])), device: some(pick([3, 4])) },
        ...{ type: pick([ScanType.UNSPECIFIED, ScanType.ENTRY, ScanType.EXIT]), autoCheckedIn: some(false) },
      };
      const listed = await checkin.history.listScans({ ...place, page: 1, pageSize: 50, ordering: ["id"], ...filter });
      expect(
        (await readAll(filter)).map(({ id }) => id),
        `seed ${dice.seed}: ${JSON.stringify(filter)}`,
      ).toEqual(listed.scans.map(({ checkin: shown }) => shown?.id));
    }
    await expect(readPart({ list: 99 })).rejects.toMatchObject({ code: "invalid_filter" });
  });

  it("[C8.5] has what was stored when it began exactly once, as it was then, beside all writes", async () => {
    await storeMany(12_000);
    await checkin.redeem(scan(list, "secret1", { nonce: "first" }));
    await checkin.redeem(scan(list, "secret2", { nonce: "second" }));
    await checkin.history.annulScan({ organizer: place.organizer, lists: [list], nonce: "second" });
    const before = await storedIds();
    const { lines: first, next } = await readPart();
    await checkin.history.annulScan({ organizer: place.organizer, lists: [list], nonce: "first", explanation: "Out" });
    await checkin.redeem(scan(list, "secret1", { at: noon - minute }));
    await storeMany(3000);
    if (next === undefined) throw new Error("there is more");
    const lines = [...parse(Buffer.from(first).toString()), ...(await readAll({ place: next }))];
    expect(lines.map(({ id }) => id)).toEqual(before);
    expect(lines.slice(-2)).toMatchObject([
      { successful: true, error_reason: null, error_explanation: null },
      { successful: false, error_reason: "annulled" },
    ]);
    const annulledSince = { place: next, list, successful: true };
    expect((await readAll(annulledSince)).map(({ id }) => id)).toEqual([before.at(-2)]);
    expect((await readAll({ list, successful: true })).map(({ error_reason }) => error_reason)).toEqual([null]);
  });

  it("[C8.6] has parts of some megabytes, however long the texts are, and looks at few scans for each", async () => {
    await storeMany(6000, { explanation: "\u{1F600}".repeat(1000) });
    let [count, parts] = [0, 0];
    for (let at: ExportPlace | undefined, isFirst = true; isFirst || at !== undefined; isFirst = false) {
      const { lines, next } = await readPart({ ...(at && { place: at }) });
      expect(lines.length).toBeLessThan(2.1 * 1024 * 1024);
      count += Buffer.from(lines).toString().split("\n").length - 1;
      parts += 1;
      at = next;
    }
    expect([count, parts > 8]).toEqual([6000, true]);
    const { lines, next } = await readPart({ reason: "rules" });
    expect([lines.length, typeof next]).toEqual([0, "object"]);
  });

  describe("[C8.7] fails when something of it is gone:", () => {
    /** The fault of an export that something happens to. */
    const faultAfter = async (happening: () => Promise<unknown>) => {
      await storeMany(6000);
      const { next } = await readPart();
      await happening();
      if (next === undefined) throw new Error("there is more");
      return readPart({ place: next }).then(
        () => "none",
        ({ code }: { code: string }) => code,
      );
    };

    it("a ticket", async () => {
      const tombstone = `${place.organizer}/${place.event}/2`;
      expect(await faultAfter(() => checkin.deliver(topics.positionChanged, [tombstone]))).toBe("export_interrupted");
    });

    it("tickets that a rebuild has left out", async () => {
      expect(await faultAfter(() => checkin.sweep(topics.positionChanged, 100))).toBe("export_interrupted");
    });

    it("a list", async () => {
      expect(await faultAfter(() => checkin.lists.deleteCheckinList({ ...place, id: list }))).toBe(
        "export_interrupted",
      );
    });

    it("the event", async () => {
      expect(await faultAfter(() => checkin.sweep(topics.eventChanged, 100))).toBe("event_not_found");
    });

    it("the database", async () => {
      await storeMany(6000);
      const { next } = await readPart();
      if (next === undefined) throw new Error("there is more");
      await expect(readPart({ place: { ...next, epoch: "another" } })).rejects.toMatchObject({
        code: "export_interrupted",
      });
    });

    it("and goes on where lists and tickets have changed", async () => {
      await storeMany(6000);
      const { lines, next } = await readPart();
      if (next === undefined) throw new Error("there is more");
      await checkin.createList();
      await checkin.deliver(topics.positionChanged, [positionFact(2, { item: 10 }, { revision: 2 })]);
      await checkin.redeem(scan(list, "secret2"));
      const before = parse(Buffer.from(lines).toString()).length;
      expect(before + (await readAll({ place: next })).length).toBe(6000);
    });
  });

  it("[C8.8] has nothing that was erased", async () => {
    await checkin.redeem(scan(list, "secret1"));
    const failed = { reason: "error", explanation: "Ada was ill", rawCode: "secret1", sourceType: "barcode" };
    await checkin.history.recordFailedScan({ ...place, list, scan: { ...failed, type: ScanType.ENTRY } });
    expect(await readAll()).toMatchObject([{ attendee_name: "Ada Lovelace" }, { error_explanation: "Ada was ill" }]);
    await erase(checkin, place, { kinds: ["attendee_info"] });
    const text = await readText();
    expect(parse(text)).toHaveLength(2);
    expect(text).not.toContain("Ada");
  });
});

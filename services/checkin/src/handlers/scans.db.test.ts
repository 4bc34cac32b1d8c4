import { sql } from "@tessera/kit/pg/sql";
import type { ListScansRequest } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeAll, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { earlierCheckin, eventFact, itemFact, minute, noon, place, positionFact } from "../testing/facts.ts";
import { scan, startCheckin } from "../testing/start-checkin.ts";
import { untilLockWait } from "../testing/until-lock-wait.ts";

let list: number;
let otherList: number;

/** The scans of one event by name, in the order of arrival. */
const names = ["imported", "admitted", "refused", "unknown", "told", "left"] as const;
type Name = (typeof names)[number];
const ids = new Map<number, Name>();
const idOf = (name: Name) => [...ids].find(([, each]) => each === name)?.[0] ?? 0;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  const elsewhere = { ...place, event: "elsewhere" };
  await checkin.deliver(topics.eventChanged, [eventFact(), eventFact(elsewhere)]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  list = (await checkin.createList()).id;
  otherList = (await checkin.createList()).id;
  const earlier = { list: otherList, at: noon - 60 * minute, gate: 5, device: 77, deviceId: 7, autoCheckedIn: true };
  const imported = { earlierCheckins: [earlierCheckin(500, earlier)] };
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, {}, imported)]);
  await checkin.redeem(scan(list, "secret1", { deviceId: 3, gate: 5 }));
  await checkin.redeem(scan(list, "secret1", { deviceId: 3, at: noon + minute }));
  await checkin.redeem(scan(list, "nobody's", { at: noon - minute, nonce: "kept to itself" }));
  const failed = { reason: "error", explanation: "Camera broke", rawCode: "secret2", sourceType: "barcode" };
  const told = { ...failed, at: noon - minute, type: ScanType.EXIT };
  await checkin.history.recordFailedScan({ ...place, list: otherList, scan: told, deviceId: 77 });
  await checkin.redeem(scan(list, "secret1", { type: ScanType.EXIT, at: noon + 2 * minute, deviceId: 4 }));
  const there = await checkin.lists.createCheckinList({
    ...elsewhere,
    fields: (await checkin.createList()).fields,
  });
  await checkin.redeem(scan(there.list?.id ?? 0, "nobody's", elsewhere));

  const rows = await checkin.db.many<{ id: number }>(sql`
    select scan.id from scan where scan.event = ${place.event} order by scan.id`);
  for (const [index, { id }] of rows.entries()) ids.set(id, names[index] ?? "left");
  // A second between any two, except between the refused and the unknown one.
  for (const [index, { id }] of rows.entries()) {
    const second = index >= 3 ? index - 1 : index;
    await checkin.db.run(sql`
      update scan
         set created_at = ${new Date(noon / 1000 + second * 1000).toISOString()}::timestamptz
       where scan.id = ${id}`);
  }
});
const everything: ListScansRequest = { ...place, page: 1, pageSize: 50, ordering: [], type: ScanType.UNSPECIFIED };
const listed = async (changes: Partial<ListScansRequest> = {}) => {
  const { scans, count } = await checkin.history.listScans({ ...everything, ...changes });
  expect(count).toBe(scans.length);
  return scans.map(({ checkin: shown }) => ids.get(shown?.id ?? 0));
};

describe("the history of scans", () => {
  it("[C6.20] shows admissions, refusals and scans made elsewhere, all of one event", async () => {
    const { scans, count } = await checkin.history.listScans(everything);
    expect(count).toBe(6);
    expect(scans).toEqual([
      {
        checkin: {
          id: idOf("imported"),
          list: otherList,
          at: noon - 60 * minute,
          type: ScanType.ENTRY,
          gate: 5,
          device: 77,
          deviceId: 7,
          autoCheckedIn: true,
        },
        createdAt: noon,
        position: 2,
      },
      {
        checkin: {
          id: idOf("admitted"),
          list,
          at: noon,
          type: ScanType.ENTRY,
          gate: 5,
          device: 3,
          deviceId: 3,
          autoCheckedIn: false,
        },
        createdAt: noon + 1_000_000,
        position: 1,
      },
      expect.objectContaining({ position: 1, refused: { reason: "already_redeemed" } }),
      {
        checkin: { id: idOf("unknown"), list, at: noon - minute, type: ScanType.ENTRY, autoCheckedIn: false },
        createdAt: noon + 2_000_000,
        refused: { reason: "invalid" },
      },
      expect.objectContaining({ position: 2, refused: { reason: "error", explanation: "Camera broke" } }),
      expect.objectContaining({ position: 1, createdAt: noon + 4_000_000 }),
    ]);
    expect(JSON.stringify(scans)).not.toMatch(/secret|nobody|kept to itself/);
  });

  it.each<[string, () => Partial<ListScansRequest>, Name[]]>([
    ["created from then on", () => ({ createdSince: noon + 2_000_000 }), ["refused", "unknown", "told", "left"]],
    ["created before", () => ({ createdBefore: noon + 2_000_000 }), ["imported", "admitted"]],
    ["scanned from then on", () => ({ atSince: noon }), ["admitted", "refused", "left"]],
    ["scanned before", () => ({ atBefore: noon }), ["imported", "unknown", "told"]],
    ["scanned between", () => ({ atSince: noon - minute, atBefore: noon }), ["unknown", "told"]],
    ["successful", () => ({ successful: true }), ["imported", "admitted", "left"]],
    ["refused", () => ({ successful: false }), ["refused", "unknown", "told"]],
    ["refused for a reason", () => ({ reason: "error" }), ["told"]],
    ["refused for a reason that no scan had", () => ({ reason: "rules" }), []],
    ["on a list", () => ({ list: otherList }), ["imported", "told"]],
    ["entries", () => ({ type: ScanType.ENTRY }), ["imported", "admitted", "refused", "unknown"]],
    ["exits", () => ({ type: ScanType.EXIT }), ["told", "left"]],
    ["at a gate", () => ({ gate: 5 }), ["imported", "admitted"]],
    ["at a gate that is not there", () => ({ gate: 999 }), []],
    ["by a device, by its internal id", () => ({ device: 77 }), ["imported", "told"]],
    ["not by a device's number where it has an internal id", () => ({ device: 7 }), []],
    ["by the platform itself", () => ({ autoCheckedIn: true }), ["imported"]],
    ["by people", () => ({ autoCheckedIn: false, successful: true }), ["admitted", "left"]],
    [
      "all at once",
      () => ({ createdSince: noon, atBefore: noon, successful: false, list, type: ScanType.ENTRY, reason: "invalid" }),
      ["unknown"],
    ],
  ])("[C6.21] finds those %s", async (_name, filter, expected) => {
    expect(await listed(filter())).toEqual(expected);
  });

  it.each<[string[], Name[]]>([
    [[], ["imported", "admitted", "refused", "unknown", "told", "left"]],
    [["created"], ["imported", "admitted", "unknown", "refused", "told", "left"]],
    [["-created"], ["left", "told", "unknown", "refused", "admitted", "imported"]],
    [
      ["created", "id"],
      ["imported", "admitted", "refused", "unknown", "told", "left"],
    ],
    [["datetime"], ["imported", "told", "unknown", "admitted", "refused", "left"]],
    [["-datetime"], ["left", "refused", "admitted", "told", "unknown", "imported"]],
    [
      ["datetime", "id"],
      ["imported", "unknown", "told", "admitted", "refused", "left"],
    ],
    [["-id"], ["left", "told", "unknown", "refused", "admitted", "imported"]],
    [
      ["id", "-created", "-id"],
      ["imported", "admitted", "refused", "unknown", "told", "left"],
    ],
    [
      ["list", "last_modified"],
      ["imported", "admitted", "refused", "unknown", "told", "left"],
    ],
  ])("[C6.22] orders by %j", async (ordering, expected) => {
    expect(await listed({ ordering })).toEqual(expected);
  });

  it("[C6.22] cuts pages", async () => {
    const page = async (number: number) => {
      const found = await checkin.history.listScans({ ...everything, page: number, pageSize: 4 });
      return [found.page, found.count, ...found.scans.map(({ checkin: shown }) => ids.get(shown?.id ?? 0))];
    };
    expect(await page(1)).toEqual([1, 6, "imported", "admitted", "refused", "unknown"]);
    expect(await page(0)).toEqual([2, 6, "told", "left"]);
    await expect(page(3)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
  });

  it("[C6.23] names a list that is not of the event", async () => {
    const wrong = { kind: "invalid", fields: { list: [expect.any(String)] } };
    await expect(listed({ list: 999 })).rejects.toMatchObject(wrong);
    await expect(listed({ list, event: "elsewhere" })).rejects.toMatchObject(wrong);
    await expect(listed({ event: "nowhere" })).rejects.toMatchObject({ kind: "not_found" });
  });

  it("[C6.20] shows one scan of the event, and none of another", async () => {
    const id = idOf("told");
    expect((await checkin.history.getScan({ ...place, id })).scan).toMatchObject({
      checkin: { id, type: ScanType.EXIT },
      refused: { reason: "error" },
    });
    for (const wrong of [
      { ...place, id: 9999 },
      { ...place, event: "elsewhere", id },
      { ...place, organizer: "others", id },
    ]) {
      await expect(checkin.history.getScan(wrong)).rejects.toMatchObject({ kind: "not_found", code: "scan_not_found" });
    }
  });
});

describe("[C6.26] the history of a large event", () => {
  const large = { ...place, event: "large" };
  const total = 50_123;

  beforeAll(async () => {
    await checkin.deliver(topics.eventChanged, [eventFact(large)]);
    await checkin.db.run(sql`
      insert into scan (organizer, event, id, list, type, successful, reason, at, created_at, forced, force_sent, auto_checked_in)
      select ${large.organizer}, ${large.event}, number.id, 1, 'entry', false, 'invalid', now(),
             '2026-01-01Z'::timestamptz + number.id * interval '1 second', false, false, false
        from generate_series(1, ${total}::bigint) as number (id)`);
  });

  const page = async (number: number, changes: Partial<ListScansRequest> = {}) => {
    const found = await checkin.history.listScans({ ...everything, ...large, page: number, ...changes });
    return { page: found.page, count: found.count, ids: found.scans.map(({ checkin: shown }) => shown?.id) };
  };
  const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

  it("is counted up to a bound, and read to its end", async () => {
    expect(await page(1)).toEqual({ page: 1, count: 50_000, ids: idsFrom(1, 50) });
    expect(await page(1000)).toEqual({ page: 1000, count: 50_001, ids: idsFrom(49_951, 50) });
    expect(await page(1001)).toEqual({ page: 1001, count: 50_051, ids: idsFrom(50_001, 50) });
    expect(await page(1003)).toEqual({ page: 1003, count: total, ids: idsFrom(50_101, 23) });
    await expect(page(1004)).rejects.toMatchObject({ code: "page_not_found" });
  });

  it("has a last page among those that are counted", async () => {
    expect(await page(0)).toEqual({ page: 1000, count: 50_001, ids: idsFrom(49_951, 50) });
    expect(await page(0, { pageSize: 7 })).toMatchObject({ page: 7143, count: 50_002 });
  });

  it("is counted exactly where a filter leaves few", async () => {
    const createdSince = Date.UTC(2026, 0, 1) * 1000 + 50_000 * 1_000_000;
    expect(await page(0, { createdSince })).toEqual({ page: 3, count: 124, ids: idsFrom(50_100, 24) });
  });
});

it("[O14.2] finds which tickets of an event were scanned on any list", async () => {
  const rows = await checkin.db.many<{ position: number }>(sql`
    select distinct scan.position
      from scan
     where scan.event = ${place.event} and scan.successful
     order by scan.position desc`);
  const scanned = rows.map(({ position }) => position);
  expect(scanned.length).toBeGreaterThan(1);
  const positions = [...scanned, 999];
  expect(await checkin.history.findScanned({ ...place, positions })).toEqual({ positions: scanned });
  expect(await checkin.history.findScanned({ ...place, event: "elsewhere", positions })).toEqual({ positions: [] });
});

it("[O14.4] leaves out tickets that were scanned only on lists whose scans do not count as use", async () => {
  const counting = await checkin.createList();
  const other = await checkin.createList({ considerTicketsUsed: false });
  await checkin.deliver(topics.positionChanged, [positionFact(3), positionFact(4)]);
  for (const secret of ["secret3", "secret4"]) await checkin.redeem(scan(other.id, secret));
  await checkin.redeem(scan(counting.id, "secret4"));
  expect(await checkin.history.findScanned({ ...place, positions: [3, 4] })).toEqual({ positions: [4] });
});

it("[C6.27] shows a scan that was held back after one that came later", async () => {
  const newest = async () => {
    const { scans } = await checkin.history.listScans({ ...everything, ordering: ["-created"] });
    return scans.map(({ checkin: shown, createdAt }) => ({ id: shown?.id, createdAt }));
  };
  const failed = { reason: "error", rawCode: "held back", sourceType: "barcode", type: ScanType.ENTRY };
  const { told, before } = await checkin.db.transaction(async (tx) => {
    await tx.many(
      sql`select list.id from list where list.event = ${place.event} and list.id = ${otherList} for update`,
    );
    const told = checkin.history.recordFailedScan({ ...place, list: otherList, scan: failed });
    await untilLockWait(checkin.db);
    await checkin.redeem(scan(list, "secret2"));
    return { told, before: await newest() };
  });
  await told;
  const after = await newest();
  const [late] = after.filter(({ id }) => before.every((known) => known.id !== id));
  expect(after).toHaveLength(before.length + 1);
  expect(late?.createdAt).toBeLessThan(before[0]?.createdAt ?? 0);
});

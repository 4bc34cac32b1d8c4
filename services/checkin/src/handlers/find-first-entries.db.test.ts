import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { FirstEntries } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { beforeEach, expect, it } from "vitest";
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
});

const entriesOf = async (positions: readonly number[], at: { organizer: string; event: string } = place) => {
  const { scanned } = await checkin.connect(FirstEntries).findFirstEntries({ ...at, positions: [...positions] });
  return new Map(scanned.map(({ position, firstEntryAt }) => [position, firstEntryAt]));
};

it("[L14.7] are the earliest on any list, in whatever order they came", async () => {
  await checkin.deliver(topics.positionChanged, [positionFact(1)]);
  await checkin.redeem(scan(list, "secret1", { at: noon + 2 * minute }));
  await checkin.redeem(scan(list, "secret1", { at: noon + minute }));
  expect(await entriesOf([1])).toEqual(new Map([[1, noon + minute]]));
  await checkin.redeem(scan(otherList, "secret1", { at: noon - minute }));
  expect(await entriesOf([1, 1])).toEqual(new Map([[1, noon - minute]]));
  // The scans of a deleted list are deleted, too.
  await checkin.lists.deleteCheckinList({ ...place, id: otherList });
  expect(await entriesOf([1])).toEqual(new Map([[1, noon + minute]]));
});

it("[L14.7, L12.3] are no exits and no refusals; an exit is a scan", async () => {
  await checkin.deliver(
    topics.positionChanged,
    [1, 2, 3].map((id) => positionFact(id)),
  );
  const exit = { type: ScanType.EXIT, at: noon - 3 * minute };
  expect(inWord(await checkin.redeem(scan(otherList, "secret1", exit)))).toBe("admitted");
  await checkin.redeem(scan(otherList, "secret1", { at: noon }));
  const again = scan(otherList, "secret1", { at: noon - minute });
  expect(inWord(await checkin.redeem(again))).toBe("already_redeemed");
  expect(inWord(await checkin.redeem(scan(list, "secret2", exit)))).toBe("admitted");
  const told = { reason: "annulled", rawCode: "secret3", sourceType: "barcode", at: noon, type: ScanType.ENTRY };
  await checkin.history.recordFailedScan({ ...place, list, scan: { ...told, position: 3 } });
  expect(await entriesOf([1, 2, 3])).toEqual(
    new Map([
      [1, noon],
      [2, undefined],
    ]),
  );
});

it("[L14.7] count that were made elsewhere, and stay when the ticket is canceled", async () => {
  const earlier = [
    earlierCheckin(500, { list, at: noon - 60 * minute }),
    earlierCheckin(501, { list: 77, exit: true }),
  ];
  await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { earlierCheckins: earlier })]);
  await checkin.redeem(scan(list, "secret1", { at: noon }));
  expect(await entriesOf([1])).toEqual(new Map([[1, noon - 60 * minute]]));
  await checkin.deliver(topics.positionChanged, [positionFact(1, { canceled: true }, { revision: 2 })]);
  expect(await entriesOf([1])).toEqual(new Map([[1, noon - 60 * minute]]));
});

it("[L12.3] are those of add-ons, too", async () => {
  const addon = (id: number, addonTo: number) => positionFact(id, { addonTo });
  await checkin.deliver(topics.positionChanged, [
    positionFact(1),
    addon(2, 1),
    addon(3, 1),
    positionFact(4),
    addon(5, 4),
  ]);
  await checkin.redeem(scan(list, "secret2"));
  await checkin.redeem(scan(list, "secret5"));
  expect(await entriesOf([1])).toEqual(new Map([[2, noon]]));
  // Each ticket once, although one is an add-on of another.
  expect(await entriesOf([2, 1])).toEqual(new Map([[2, noon]]));
});

it("[S1.3, L14.7] are of one event and organizer, whatever has the same id elsewhere", async () => {
  const elsewhere = [
    { ...place, event: "elsewhere" },
    { ...place, organizer: "others" },
  ];
  for (const [index, at] of elsewhere.entries()) {
    await checkin.deliver(topics.eventChanged, [eventFact(at)]);
    await checkin.deliver(topics.itemChanged, [itemFact(10, at)]);
    const there = await checkin.lists.createCheckinList({ ...at, fields: listFields() });
    const addon = positionFact(2, { addonTo: 1 });
    await checkin.deliver(topics.positionChanged, [
      { ...positionFact(1), ...at },
      { ...addon, ...at },
    ]);
    for (const secret of ["secret1", "secret2"])
      await checkin.redeem(scan(there.list?.id ?? 0, secret, { ...at, at: noon - (index + 1) * minute }));
  }
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { addonTo: 1 })]);
  expect(await entriesOf([1, 2])).toEqual(new Map());
  await checkin.redeem(scan(list, "secret1"));
  expect(await entriesOf([1, 2])).toEqual(new Map([[1, noon]]));
  expect((await entriesOf([1, 2], elsewhere[0])).get(1)).toBe(noon - minute);
  expect((await entriesOf([1, 2], elsewhere[1])).get(2)).toBe(noon - 2 * minute);
});

it("are told of a thousand tickets at a time, and of none", async () => {
  const ids = Array.from({ length: 1001 }, (_, index) => index + 1);
  await expect(entriesOf(ids)).rejects.toMatchObject({ kind: "invalid", code: "too_many_first_entries" });
  expect(await entriesOf(ids.slice(1))).toEqual(new Map());
  expect(await entriesOf([])).toEqual(new Map());
});

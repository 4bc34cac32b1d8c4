import type { ListPositionsRequest, SearchPositionsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeAll, expect, it } from "vitest";
import { filters } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, place, positionFact } from "../../testing/facts.ts";
import { listFields, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const { organizer } = place;
/** How many tickets each event has. */
const sold = { first: 70, second: 3, third: 45 };
const lists: number[] = [];

beforeAll(async () => {
  let id = 0;
  for (const [event, count] of Object.entries(sold)) {
    await checkin.deliver(topics.eventChanged, [{ ...eventFact(), event }]);
    await checkin.deliver(topics.itemChanged, [{ ...itemFact(event === "third" ? 12 : 10), event }]);
    const facts = Array.from({ length: count }, () => {
      id += 1;
      const attendeeName = `Ada ${String(1000 - id)}`;
      const ticket = { attendeeName, secret: `${event}-${id}`, item: event === "third" ? 12 : 10 };
      return { ...positionFact(id, ticket), event };
    });
    await checkin.deliver(topics.positionChanged, facts);
    const { list } = await checkin.lists.createCheckinList({ organizer, event, fields: listFields() });
    lists.push(list?.id ?? 0);
  }
});

async function search(
  asked: Partial<ListPositionsRequest> = {},
  { on = lists, among }: { on?: number[]; among?: SearchPositionsRequest["among"] } = {},
) {
  const page = { page: 1, pageSize: 50, ordering: [], ignoreStatus: true, searchOnly: false };
  const request = { organizer, event: "", list: 0, ...page, search: "ada", ...asked };
  const { found, ...counts } = await checkin.positions.searchPositions({ asked: request, lists: on, among });
  const ids = found.flatMap(({ positions }) => positions.flatMap(({ position }) => position?.id ?? []));
  return { ...counts, events: found.map(({ event }) => event), ids };
}

const descending = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

it("[E6.7] shows the tickets of the first list first, each list in its order, and each ticket on one page", async () => {
  expect(await search()).toEqual({ count: 118, page: 1, events: ["first"], ids: descending(70, 21) });
  expect(await search({ page: 2 })).toEqual({
    ...{ count: 118, page: 2, events: ["first", "second", "third"] },
    ids: [...descending(20, 1), ...descending(73, 71), ...descending(118, 92)],
  });
  expect(await search({ page: 3 })).toEqual({ count: 118, page: 3, events: ["third"], ids: descending(91, 74) });
  expect(await search({ page: 0 })).toMatchObject({ page: 3 });
  await expect(search({ page: 4 })).rejects.toMatchObject({ code: "page_not_found" });
  const small = await Promise.all([8, 9, 10, 11].map((page) => search({ page, pageSize: 9 })));
  expect(small.flatMap(({ ids }) => ids)).toEqual([...descending(7, 1), ...descending(73, 71), ...descending(118, 93)]);
  expect((await search({}, { on: lists.toReversed() })).ids.slice(0, 46)).toEqual([...descending(118, 74), 73]);
});

it("[E6.7] shows scans on the lists that were asked for alone", async () => {
  await checkin.redeem({ ...scan(lists[1] ?? 0, "second-71"), event: "second" });
  const request = { organizer, event: "", list: 0, page: 1, pageSize: 50, ordering: [], searchOnly: false };
  const asked = { ...request, ignoreStatus: true, search: "second-71" };
  const { found } = await checkin.positions.searchPositions({ asked, lists });
  expect(found).toMatchObject([{ event: "second", positions: [{ checkins: [{ list: lists[1] }] }] }]);
});

it("[E6.7] filters by what one of the events has; an id of none of them is refused", async () => {
  const items = (id: number) => ({ filters: filters({ items: [{ ids: [id], parameter: "item" }] }) });
  expect((await search(items(12))).count).toBe(45);
  expect((await search(items(10))).count).toBe(73);
  await expect(search(items(99))).rejects.toMatchObject({ fields: { item: [expect.stringContaining("99")] } });
});

it("[E6.7] finds nothing for who may only search, without three characters", async () => {
  expect(await search({ search: "ad", searchOnly: true })).toEqual({ count: 0, page: 1, events: [], ids: [] });
  expect((await search({ search: "ada", searchOnly: true })).count).toBe(118);
});

it("[E6.5] is refused on lists that are unknown or of other events", async () => {
  await expect(search({}, { on: [1, 2] })).rejects.toMatchObject({ code: "unknown_lists" });
  await expect(search({}, { among: { slugs: ["first", "second"] } })).rejects.toMatchObject({ code: "unknown_lists" });
});

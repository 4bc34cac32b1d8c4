import type { ListPositionsRequest, ListPositionsResponse } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { entityKey, topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askPage, filters } from "../../testing/ask-positions.ts";
import { eventFact, itemFact, minute, noon, order, place, positionFact } from "../../testing/facts.ts";
import { type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";

/** So many that pages are linked by cursors. */
const many = 1060;

let database: TestDatabase;
let checkin: RunningCheckin;
let list: number;
/** No id is given twice. */
let lastId = 0;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  list = (await checkin.createList()).id;
  await add(many);
  const scanned = Array.from({ length: 60 }, (_, index) =>
    scan(list, `secret${index * 7 + 1}`, { at: noon + (index % 9) }),
  );
  await checkin.redeemAll(scanned);
});
afterAll(() => database.drop());

/** Adds tickets that differ in all that tickets are sorted by, with ties; some have neither a name nor an address. */
async function add(count: number): Promise<number[]> {
  const ids = Array.from({ length: count }, () => (lastId += 1));
  const facts = ids.map((id) =>
    positionFact(id, {
      attendeeName: id % 11 === 0 ? undefined : `Visitor ${(id * 7919) % 263}`,
      positionid: 1 + (id % 40 === 0 ? 1 : 0),
      order: order({
        code: `O${(id * 31) % 509}`,
        placedAt: noon + ((id * 17) % 97) * minute,
        ...(id % 13 === 0 ? {} : { email: `buyer${(id * 5) % 301}@example.org` }),
      }),
    }),
  );
  for (let from = 0; from < facts.length; from += 200)
    await checkin.deliver(topics.positionChanged, facts.slice(from, from + 200));
  return ids;
}

async function remove(ids: readonly number[]): Promise<void> {
  await checkin.deliver(
    topics.positionChanged,
    ids.map((id) => entityKey(place.organizer, place.event, id)),
  );
}

const ask = (changes: Partial<ListPositionsRequest> = {}) => askPage({ checkin, list }, changes);
const idsOf = ({ positions }: ListPositionsResponse) => positions.flatMap(({ position }) => position?.id ?? []);

/** Follows the links of a page in one direction, as the gateway makes them. */
async function* follow(to: "next" | "previous", from: Partial<ListPositionsRequest>) {
  let asked: Partial<ListPositionsRequest> = from;
  for (;;) {
    const answer = await ask(asked);
    yield answer;
    const neighbor = answer.neighbors?.[to];
    if (neighbor === undefined) return;
    asked = { ...from, page: answer.page + (to === "next" ? 1 : -1), cursor: neighbor.cursor };
  }
}

const columns = ["attendee_name", "last_checked_in", "positionid", "order__email", "order__code", "order__datetime"];
const orderings: readonly string[][] = [
  [],
  ...columns.flatMap((name) => [[name], [`-${name}`]]),
  ["order__datetime", "-attendee_name"],
  ["-positionid", "last_checked_in", "order__code"],
];

describe("[C2.31] following `next`", () => {
  it.each(orderings.map((ordering) => ({ ordering })))(
    "shows each ticket once while others come and go: $ordering",
    async ({ ordering }) => {
      const before = new Set(await everyId(ordering));
      const seen: number[] = [];
      const gone = new Set<number>();
      let pages = 0;
      for await (const answer of follow("next", { ordering })) {
        const ids = idsOf(answer);
        seen.push(...ids);
        pages += 1;
        // Some come before or behind the edge; of those that go, one is the edge itself.
        if (pages % 6 !== 0) continue;
        await add(7);
        const removed = [ids.at(-1) ?? 0, ...seen.slice(0, 3)];
        for (const id of removed) gone.add(id);
        await remove(removed);
      }
      expect(new Set(seen).size).toBe(seen.length);
      const missed = [...before].filter((id) => !seen.includes(id) && !gone.has(id));
      expect(missed).toEqual([]);
      await remove(seen.filter((id) => !before.has(id)));
      await add(many - (await ask()).count);
    },
  );

  it.each(orderings.map((ordering) => ({ ordering })))(
    "and back by `previous` shows the list as it is sorted: $ordering",
    async ({ ordering }) => {
      const all = await everyId(ordering);
      const forwards: number[] = [];
      for await (const answer of follow("next", { ordering })) forwards.push(...idsOf(answer));
      expect(forwards).toEqual(all);
      const backwards: number[] = [];
      for await (const answer of follow("previous", { ordering, page: 0 })) backwards.unshift(...idsOf(answer));
      expect(backwards).toEqual(all);
    },
  );

  it("goes through what a search found, the ticket with that very code first", async () => {
    const search = "visitor 1";
    const [first] = await askAll({ search });
    expect(first).toBeGreaterThan(0);
    for (const ordering of [[], ["order__code"]])
      for (const pageSize of [50, 7]) {
        const all = await askAll({ search, ordering });
        const found: number[] = [];
        for await (const answer of follow("next", { search, ordering, pageSize })) found.push(...idsOf(answer));
        expect(found).toEqual(all.slice(0, found.length));
      }
  });

  it("needs no cursor where few tickets were found", async () => {
    const { neighbors, count } = await ask({ filters: filters({ hasCheckin: true }) });
    expect(count).toBeLessThan(1000);
    expect(neighbors).toBeUndefined();
  });

  it("ends on the last page, and begins on one without a cursor", async () => {
    expect((await ask({ page: 0 })).neighbors).toMatchObject({
      next: undefined,
      previous: { cursor: expect.any(String) },
    });
    expect((await ask({ page: 2 })).neighbors).toEqual({
      next: { cursor: expect.any(String) },
      previous: { cursor: undefined },
    });
    expect((await ask()).neighbors).toMatchObject({ previous: undefined });
  });
});

describe("[C2.32] a cursor", () => {
  it("counts for its own request and page, else the number does", async () => {
    const cursor = (await ask({ page: 3 })).neighbors?.next?.cursor ?? "";
    const sealed = await idsIn({ page: 4, cursor });
    expect(sealed).toEqual(await idsIn({ page: 4 }));
    const others: readonly Partial<ListPositionsRequest>[] = [
      { page: 5 },
      { page: 0 },
      { pageSize: 49 },
      { ordering: ["order__code"] },
      { filters: filters({ hasCheckin: false }) },
      { ignoreStatus: true },
      { list: (await checkin.createList()).id },
    ];
    // A ticket before all others: pages by number move, the page at the cursor does not.
    await checkin.deliver(topics.positionChanged, [
      positionFact(9000, { attendeeName: "Aaron", order: order({ code: "!" }) }),
    ]);
    expect(await idsIn({ page: 4, cursor })).toEqual(sealed);
    for (const changes of others) {
      const request = { page: 4, ...changes };
      expect(await idsIn({ ...request, cursor })).toEqual(await idsIn(request));
    }
    await remove([9000]);
  });

  it.each(["", "x", "%", "A".repeat(40), "A".repeat(4000), "\0\0", "ünïcode"])(
    "may be anything: %j",
    async (cursor) => {
      expect(await idsIn({ page: 4, cursor })).toEqual(await idsIn({ page: 4 }));
    },
  );

  it("is void with one character changed", async () => {
    const cursor = (await ask({ page: 3 })).neighbors?.next?.cursor ?? "";
    await checkin.deliver(topics.positionChanged, [positionFact(9000, { attendeeName: "Aaron" })]);
    for (const at of [0, 20, cursor.length - 2]) {
      const other = cursor[at] === "A" ? "B" : "A";
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      expect(await idsIn({ page: 4, cursor: changed })).toEqual(await idsIn({ page: 4 }));
    }
    await remove([9000]);
  });

  it("[C2.33] shows nothing of a ticket, is short, and is the same for the same page", async () => {
    for (const ordering of orderings) {
      const [one, other] = [await ask({ ordering, page: 7 }), await ask({ ordering, page: 7 })];
      const cursor = one.neighbors?.next?.cursor ?? "";
      expect(cursor).toMatch(/^[\w-]{40,200}$/);
      expect(other.neighbors?.next?.cursor).toBe(cursor);
      const bytes = Buffer.from(cursor, "base64url").toString("latin1");
      expect(bytes).not.toMatch(/visitor|buyer|example|noon|\d{4}-\d\d|\d{6}/i);
    }
  });
});

async function idsIn(changes: Partial<ListPositionsRequest>): Promise<number[]> {
  return idsOf(await ask(changes));
}

const everyId = (ordering: readonly string[]) => askAll({ ordering: [...ordering] });

/** By the numbers of the pages. */
async function askAll(changes: Partial<ListPositionsRequest>): Promise<number[]> {
  const ids: number[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await ask({ ...changes, page });
    ids.push(...idsOf(answer));
    if (ids.length >= answer.count) return ids;
  }
}

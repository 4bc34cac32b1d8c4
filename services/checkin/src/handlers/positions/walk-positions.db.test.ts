import type { ListPositionsRequest, ListPositionsResponse } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { entityKey, topics } from "@tessera/protos/topics";
import { beforeAll, describe, expect, it } from "vitest";
import { askPage, filters } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, minute, noon, order, place, positionFact } from "../../testing/facts.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

/** Enough tickets that pages are linked by cursors. */
const many = 1060;

let list: number;
/** No id is used twice. */
let lastId = 0;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  list = (await checkin.createList()).id;
  await add(many);
  const scanned = Array.from({ length: 60 }, (_, index) =>
    scan(list, `secret${index * 7 + 1}`, { at: noon + (index % 9) }),
  );
  await checkin.redeemAll(scanned);
});
/** Adds tickets that differ in every sort key, with ties; some have neither a name nor an address. */
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

/** Follows the links of pages as the gateway makes them. */
async function* follow(from: Partial<ListPositionsRequest>) {
  let asked: Partial<ListPositionsRequest> = from;
  for (;;) {
    const answer = await ask(asked);
    yield answer;
    if (answer.next?.cursor === undefined) return;
    asked = { ...from, page: answer.page + 1, cursor: answer.next.cursor };
  }
}

const columns = ["attendee_name", "last_checked_in", "positionid", "order__email", "order__code", "order__datetime"];
const orderings: readonly string[][] = [
  [],
  ...columns.flatMap((name) => [[name], [`-${name}`]]),
  ["order__datetime", "-attendee_name"],
  ["-positionid", "last_checked_in", "order__code"],
];

describe("following `next`", () => {
  it.each(orderings.map((ordering) => ({ ordering })))(
    "shows each ticket once while others come and go: $ordering",
    async ({ ordering }) => {
      const before = await everyId(ordering);
      const seen: number[] = [];
      const gone = new Set<number>();
      let pages = 0;
      for await (const answer of follow({ ordering })) {
        const ids = idsOf(answer);
        seen.push(...ids);
        pages += 1;
        if (pages === 1) expect(ids).toEqual(before.slice(0, 50));
        // Some tickets are added before or after the last ticket of the page, some deleted.
        if (pages % 6 !== 0) continue;
        await add(7);
        for (const id of seen.slice(0, 3)) gone.add(id);
        await remove(seen.slice(0, 3));
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(before.filter((id) => !seen.includes(id) && !gone.has(id))).toEqual([]);
      await remove(seen.filter((id) => !before.includes(id)));
      await add(many - (await ask()).count);
    },
  );

  it("needs no cursor where few tickets were found, nor to the last page", async () => {
    const { next, count } = await ask({ filters: filters({ hasCheckin: true }) });
    expect(count).toBeLessThan(1000);
    expect(next).toBeUndefined();
    expect((await ask({ page: 0 })).next).toBeUndefined();
  });
});

describe("a cursor", () => {
  it("counts for its own request and page, else the number does", async () => {
    const cursor = (await ask({ page: 3 })).next?.cursor ?? "";
    expect(cursor).toMatch(/^[\w.-]{8,100}$/);
    const behind = await idsIn({ page: 4, cursor });
    expect(behind).toEqual(await idsIn({ page: 4 }));
    // A ticket before all others shifts pages by number, but not the page at the cursor.
    await checkin.deliver(topics.positionChanged, [
      positionFact(9000, { attendeeName: "Aaron", order: order({ code: "!" }) }),
    ]);
    expect(await idsIn({ page: 4, cursor })).toEqual(behind);
    const others: readonly Partial<ListPositionsRequest>[] = [
      { page: 5 },
      { page: 0 },
      { pageSize: 49 },
      { ordering: ["order__code"] },
      { filters: filters({ hasCheckin: false }) },
      { ignoreStatus: true },
      { list: (await checkin.createList()).id },
    ];
    for (const changes of others) {
      const request = { page: 4, ...changes };
      expect(await idsIn({ ...request, cursor })).toEqual(await idsIn(request));
    }
    await remove([9000]);
  });

  it.each(["last_checked_in", "attendee_name"])(
    "is void once its ticket is elsewhere in the order: %s",
    async (name) => {
      const asked = { ordering: [name], page: 3 };
      const answer = await ask(asked);
      const last = idsOf(answer).at(-1) ?? 0;
      if (name === "last_checked_in") await checkin.redeem(scan(list, `secret${last}`, { at: noon + 20, force: true }));
      else
        await checkin.deliver(topics.positionChanged, [{ ...positionFact(last, { attendeeName: "Zz" }), revision: 9 }]);
      const next = { ...asked, page: 4 };
      expect(await idsIn({ ...next, cursor: answer.next?.cursor })).toEqual(await idsIn(next));
    },
  );

  it.each(["", "x", "%", "1.", "A".repeat(200), "9".repeat(200), "\0\0", "ünïcode"])(
    "may be anything: %j",
    async (cursor) => {
      expect(await idsIn({ page: 4, cursor })).toEqual(await idsIn({ page: 4 }));
    },
  );
});

async function idsIn(changes: Partial<ListPositionsRequest>): Promise<number[]> {
  return idsOf(await ask(changes));
}

const everyId = (ordering: readonly string[]) => askAll({ ordering: [...ordering] });

async function askAll(changes: Partial<ListPositionsRequest>): Promise<number[]> {
  const ids: number[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await ask({ ...changes, page });
    ids.push(...idsOf(answer));
    if (ids.length >= answer.count) return ids;
  }
}

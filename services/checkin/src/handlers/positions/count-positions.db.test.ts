import type { OrderStatus } from "@tessera/admission";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeAll, expect, it } from "vitest";
import { countPositions } from "../../store/count-positions.ts";
import { requireList } from "../../store/lists.ts";
import { conditionsOn, everyPosition, type PositionFilter } from "../../store/position-filter.ts";
import { pageIds } from "../../store/position-pages.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { blockedSecretFact, eventFact, itemFact, noon, order, place, positionFact } from "../../testing/facts.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

const lists: number[] = [];

const statuses = ["PAID", "PENDING", "EXPIRED", "CANCELED"] as const;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  // Every combination of the columns that tickets are counted and filtered by.
  const made = Array.from({ length: 192 }, (_, index) =>
    positionFact(index + 1, {
      item: 10 + (index % 2),
      subevent: [undefined, 5][(index >> 1) % 2],
      attendeeName: ["Ann", undefined][(index >> 6) % 2],
      blocked: (index >> 2) % 8 === 7 ? ["admin"] : [],
      validUntil: (index >> 2) % 8 === 6 ? noon - 1 : undefined,
      canceled: index % 23 === 22,
      order: order({ status: `ORDER_STATUS_${statuses[(index >> 4) % 4] ?? "PAID"}`, validIfPending: index % 3 === 0 }),
    }),
  );
  await checkin.deliver(topics.positionChanged, made);
  await checkin.deliver(topics.blockedSecretChanged, [blockedSecretFact(1, { secret: "secret3" })]);
  lists.push((await checkin.createList({ includePending: true })).id);
  lists.push((await checkin.createList({ allProducts: false, limitProducts: [10] })).id);
  for (const list of lists) {
    const scans = made.flatMap(({ position }, index) => {
      const code = scan(list, position?.secret ?? "", { force: true });
      return [[], [code], [{ ...code, type: "SCAN_TYPE_EXIT" as const }], []][(index + list) % 4] ?? [];
    });
    await checkin.redeemAll(scans);
  }
  await checkin.runJob("compact-counts");
});
/** Every filter that is counted by summing buckets. */
function everyFilter(base: Omit<PositionFilter, keyof typeof everyPosition>): PositionFilter[] {
  const orderStatuses: (OrderStatus[] | undefined)[] = [undefined, ["paid"], ["pending"], ["expired", "paid"], []];
  return [false, true].flatMap((ignoreStatus) =>
    [undefined, false, true].flatMap((hasCheckin) =>
      orderStatuses.flatMap((states) =>
        [undefined, noon].flatMap((usableAt) =>
          [[], [[11]], [[10, 11], [10]]].flatMap((items) =>
            [[], [[5]]].map((subevents) => ({
              ...base,
              ...everyPosition,
              ignoreStatus,
              hasCheckin,
              orderStatuses: states,
              usableAt,
              items,
              subevents,
            })),
          ),
        ),
      ),
    ),
  );
}

it("[C2.12] counts that are summed up are those of the tickets, by every filter", async () => {
  const wrong: unknown[] = [];
  for (const id of lists) {
    const list = await requireList(checkin.db, { ...place, id });
    for (const filter of everyFilter({ ...place, list, ignoreStatus: false, id: undefined })) {
      const { recount } = await checkin.db.one<{ recount: number }>(sql`
        select count(*) as recount from position as ticket where ${conditionsOn(filter)}`);
      const count = await countPositions(checkin.db, filter);
      const ids = await pageIds(checkin.db, filter, { ordering: [], limit: 500, offset: 0, count });
      const { ignoreStatus, hasCheckin, orderStatuses, usableAt, items, subevents } = filter;
      if (count !== recount || new Set(ids).size !== recount)
        wrong.push({ id, count, recount, ignoreStatus, hasCheckin, orderStatuses, usableAt, items, subevents });
    }
  }
  expect(wrong).toEqual([]);
});

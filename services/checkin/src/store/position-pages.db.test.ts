import { readPage } from "@tessera/kit/pg/page";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { topics } from "@tessera/protos/topics";
import { array, assert, asyncProperty, boolean, constantFrom, integer, option, record, uniqueArray } from "fast-check";
import { expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, noon, order, place, positionFact } from "../testing/facts.ts";
import { scan, startCheckin } from "../testing/start-checkin.ts";
import { countPositions } from "./count-positions.ts";
import { requireList } from "./lists.ts";
import { everyPosition, type PositionFilter } from "./position-filter.ts";
import { divide, findReached, idsBehind, pageIds, sortIds } from "./position-pages.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const columns = ["attendee_name", "last_checked_in", "positionid", "order__email", "order__code", "order__datetime"];
const anyDirection = columns.flatMap((name) => [name, `-${name}`]);
const anyOrdering = uniqueArray(constantFrom(...anyDirection), {
  maxLength: 3,
  selector: (name) => name.replace("-", ""),
});

const anyTicket = record({
  attendeeName: constantFrom(undefined, "", "Ann", "ann", "Bob", "İo 🎫", `e\u0301\\'"${"名".repeat(250)}`),
  parent: option(integer({ min: 1, max: 12 }), { nil: undefined }),
  positionid: integer({ min: 0, max: 3 }),
  item: constantFrom(10, 11),
  canceled: constantFrom(false, false, false, true),
  status: constantFrom(OrderStatus.PAID, OrderStatus.PAID, OrderStatus.PENDING, OrderStatus.CANCELED),
  email: constantFrom(undefined, "a@x", "A@x", "b@x", `${"a".repeat(260)}@x`, `${"İ🎫".repeat(130)}@x`),
  code: constantFrom("A", "b", "B"),
  placedAt: integer({ min: noon, max: noon + 2 }),
});

const anyScan = record({
  ticket: integer({ min: 1, max: 10 }),
  minute: integer({ min: 0, max: 2 }),
  type: constantFrom("SCAN_TYPE_ENTRY", "SCAN_TYPE_EXIT"),
  isOther: boolean(),
});

const anyFilter = record<Partial<PositionFilter>>({
  ignoreStatus: boolean(),
  hasCheckin: constantFrom(undefined, undefined, true, false),
  items: constantFrom([], [], [[11]]),
  attendeeName: constantFrom(undefined, undefined, "ann"),
  orderStatuses: constantFrom(undefined, undefined, ["pending"]),
});

it("[C2.16, C2.17] each page in each order is the one that sorting all tickets gives, by its number or behind a ticket", async () => {
  const material = {
    tickets: array(anyTicket, { minLength: 1, maxLength: 10 }),
    scans: array(anyScan, { maxLength: 12 }),
    filters: array(anyFilter, { minLength: 1, maxLength: 2 }),
    pageSize: integer({ min: 1, max: 4 }),
    orderings: array(anyOrdering, { minLength: 1, maxLength: 3 }),
  };
  await assert(
    asyncProperty(record(material), async ({ tickets, scans, filters, pageSize, orderings }) => {
      await checkin.reset();
      await checkin.deliver(topics.eventChanged, [eventFact()]);
      await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
      const terms = { allowMultipleEntries: true, includePending: true };
      const [list, other] = [(await checkin.createList(terms)).id, (await checkin.createList(terms)).id];
      const facts = tickets.map(({ parent, status, email, code, placedAt, ...changes }, index) =>
        positionFact(index + 1, { ...changes, addonTo: parent, order: order({ status, email, code, placedAt }) }),
      );
      await checkin.deliver(topics.positionChanged, facts);
      const sent = scans.map(({ ticket, minute, type, isOther }) =>
        scan(isOther ? other : list, `secret${ticket}`, { at: noon + minute, type, force: true }),
      );
      if (sent.length > 0) await checkin.redeemAll(sent);
      const base = { ...place, list: await requireList(checkin.db, { ...place, id: list }), id: undefined };
      const ids = facts.map((_, index) => index + 1);
      for (const changes of filters) {
        const filter: PositionFilter = { ...everyPosition, ignoreStatus: false, ...base, ...changes };
        const count = await countPositions(checkin.db, filter);
        for (const ordering of orderings) {
          const expected = await sortIds(checkin.db, filter, { ordering, ids });
          expect(expected).toHaveLength(count);
          const parts = await divide(checkin.db, filter, ordering);
          for (let offset = 0; offset < count; offset += pageSize) {
            const wanted = expected.slice(offset, offset + pageSize);
            const cut = { ordering, limit: pageSize, offset, count };
            const behind = async (ticket = 0) => {
              const { place = [] } = (await findReached(checkin.db, filter, { ordering, ticket })) ?? {};
              return idsBehind(checkin.db, filter, { ordering, place, limit: pageSize });
            };
            const pages = {
              sorted: await pageIds(checkin.db, filter, cut),
              byIndexes: await readPage(checkin.db, parts, cut),
              behind: offset === 0 ? wanted : await behind(expected[offset - 1]),
            };
            const all = { sorted: wanted, byIndexes: wanted, behind: wanted };
            expect([ordering, offset, pages]).toEqual([ordering, offset, all]);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});

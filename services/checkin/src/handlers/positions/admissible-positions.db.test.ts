import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { askIds, askIdsInOrder, askOne, askPage, filters } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import {
  blockedSecretFact,
  eventFact,
  itemFact,
  minute,
  noon,
  place,
  positionFact,
  subeventFact,
} from "../../testing/facts.ts";
import { addPositions } from "../../testing/many-positions.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true, dateFrom: noon })]);
  await checkin.deliver(topics.subeventChanged, [subeventFact(5, { dateFrom: noon + 60 * minute })]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
});

const now = (changes = {}) => ({ filters: filters({ admissibleNow: true, ...changes }) });

describe("[C2.14] tickets that a scan would admit now", () => {
  it("are those that are neither blocked nor out of their time; both limits are in it", async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, { blocked: ["admin"] }),
      positionFact(3, { validFrom: noon + 1 }),
      positionFact(4, { validFrom: noon, validUntil: noon }),
      positionFact(5, { validUntil: noon - 1 }),
      positionFact(6),
      positionFact(7),
    ]);
    await checkin.deliver(topics.blockedSecretChanged, [
      blockedSecretFact(1, { secret: "secret6" }),
      blockedSecretFact(2, { secret: "secret7", blocked: false }),
    ]);
    const rules = { isAfter: [{ var: "now" }, { buildTime: ["custom", "2020-01-01T00:00:00Z"] }] };
    const list = (await checkin.createList({ rules: JSON.stringify(rules) })).id;
    expect(await askIdsInOrder({ checkin, list }, now())).toEqual([1, 4, 7]);
    expect(await askIdsInOrder({ checkin, list })).toHaveLength(7);
    await expect(askOne({ checkin, list }, 2, now())).rejects.toMatchObject({ code: "position_not_found" });
    await askOne({ checkin, list }, 2);
    checkin.clock.at = noon - 1;
    expect(await askIdsInOrder({ checkin, list }, now())).toEqual([1, 5, 7]);
  });

  it.each(["{}", "[1]", "true"])("are all of them on a list with nothing but %s for rules", async (rules) => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { blocked: ["admin"] }),
      positionFact(2, { validFrom: noon + 1 }),
      positionFact(3, { validUntil: noon - 1 }),
    ]);
    const list = (await checkin.createList({ rules })).id;
    expect(await askIdsInOrder({ checkin, list }, now())).toEqual([1, 2, 3]);
    await askOne({ checkin, list }, 1, now());
  });

  const time = (kind: string, value?: string) => ({ buildTime: value === undefined ? [kind] : [kind, value] });
  const at = (offset: number) => ({
    isAfter: [{ var: "now" }, time("custom", new Date(noon / 1000 + offset).toISOString())],
  });

  it.each([
    ["their product", { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", "11", "x"] }] }] }, [2]],
    [
      "the gate of the device",
      { inList: [{ var: "gate" }, { objectList: [{ lookup: ["gate", "7", "x"] }] }] },
      [1, 2, 3],
    ],
    ["another gate", { inList: [{ var: "gate" }, { objectList: [{ lookup: ["gate", "8", "x"] }] }] }, []],
    ["what was scanned", { "==": [{ var: "entries_number" }, 0] }, [2, 3]],
    ["the time of this moment", at(-60_000), [1, 2, 3]],
    ["a time to come", at(60_000), []],
    ["their date, else the event", { isBefore: [{ var: "now" }, time("date_from"), 0] }, [3]],
  ])("go by %s", async (_name, rules, expected) => {
    const list = (await checkin.createList({ rules: JSON.stringify(rules), allowMultipleEntries: true })).id;
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, { item: 11 }),
      positionFact(3, { subevent: 5 }),
    ]);
    await checkin.redeem(scan(list, "secret1", { force: true }));
    expect(await askIdsInOrder({ checkin, list }, now({ gate: 7 }))).toEqual(expected);
    expect(await askIdsInOrder({ checkin, list })).toEqual([1, 2, 3]);
    const one = askOne({ checkin, list }, 1, now({ gate: 7 })).then(
      () => true,
      () => false,
    );
    expect(await one).toBe(expected.includes(1));
  });

  it("are counted and paged in the order that was asked for", async () => {
    const rules = { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", "11", "x"] }] }] };
    const list = (await checkin.createList({ rules: JSON.stringify(rules) })).id;
    await checkin.deliver(
      topics.positionChanged,
      Array.from({ length: 30 }, (_, index) =>
        positionFact(index + 1, { positionid: index + 1, item: 10 + (index % 2) }),
      ),
    );
    const page = (number: number) =>
      askPage({ checkin, list }, { ...now(), ordering: ["-positionid"], page: number, pageSize: 6 });
    expect(await page(1)).toMatchObject({ count: 15, page: 1 });
    expect((await page(2)).positions.map((shown) => shown.position?.id)).toEqual([18, 16, 14, 12, 10, 8]);
    expect(await page(0)).toMatchObject({ page: 3, count: 15, positions: [{}, {}, {}] });
    await expect(page(4)).rejects.toMatchObject({ code: "page_not_found" });
  });
});

describe("[C2.15] more tickets than are judged at a time", () => {
  it("are shown behind those that were judged, and counted with them", async () => {
    const rules = { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", "11", "x"] }] }] };
    const list = (await checkin.createList({ rules: JSON.stringify(rules) })).id;
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    // As facts would have made them, in a moment.
    await checkin.db.run(sql`
      insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status, valid_if_pending,
                            require_approval, canceled, blocked, counted_as, order_placed_at, search_text, state)
      select position.organizer, position.event, made.id, 1, made.id, 'MADE', 10 + made.id % 2, 'made' || made.id, 'paid', false,
             false, false, false, 'paid', position.order_placed_at, '', position.state
        from position
       cross join generate_series(2, 20004) as made (id)
       where position.id = 1`);
    await checkin.db.run(sql`
      insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
      select position.organizer, position.event, 0, 0, position.item, 0, 'paid', count(*), 0, 0
        from position
       where position.id > 1
       group by position.organizer, position.event, position.item`);
    const asked = { ...now(), ordering: ["positionid"], pageSize: 50 };
    // Of the first 20 000 tickets, which are judged, 9 999 have the product; four more follow unjudged.
    const last = await askPage({ checkin, list }, { ...asked, page: 0 });
    expect(last).toMatchObject({ count: 10_003 });
    expect(last.positions).toHaveLength(3);
    const first = await askPage({ checkin, list }, { ...asked, page: 1 });
    expect(first.positions).toHaveLength(50);
    expect(await askIds({ checkin, list }, { ...now(), search: "made20004" })).toEqual([]);
  });

  it("are fewer by long rules", async () => {
    const never = { "<": [{ entries_days_since: [{ buildTime: ["customtime", "10:00"] }] }, 0] };
    const rules = { or: Array.from({ length: 700 }, () => never) };
    const list = (await checkin.createList({ rules: JSON.stringify(rules) })).id;
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await addPositions(checkin.db, { event: place.event, count: 4999 });
    // An operator, a count and a constant, 700 times, and the operator above them.
    expect(await askPage({ checkin, list }, now())).toMatchObject({ count: 5000 - Math.floor(10_000_000 / 2101) });
  });
});

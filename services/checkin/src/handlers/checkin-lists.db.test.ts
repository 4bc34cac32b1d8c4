import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  categoryFact,
  eventFact,
  itemFact,
  minute,
  noon,
  order,
  place,
  positionFact,
  subeventFact,
} from "../testing/facts.ts";
import { listFields, type RunningCheckin, scan, startCheckin } from "../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true }), eventFact({ event: "single" })]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  await checkin.deliver(topics.subeventChanged, [
    subeventFact(1, { dateFrom: noon, dateTo: noon + 60 * minute }),
    subeventFact(2, { dateFrom: noon + 120 * minute }),
    subeventFact(3, { dateFrom: noon - 120 * minute }),
    { ...subeventFact(9), event: "single" },
  ]);
});

const everything = { ...place, page: 1, pageSize: 50, ordering: [], withCounts: true };
const names = async (changes = {}) =>
  (await checkin.lists.listCheckinLists({ ...everything, ...changes })).lists.map(({ fields }) => fields?.name);

describe("the time of the last change", () => {
  const changedAt = async (knownAsOf?: number) =>
    checkin.lists.listCheckinLists({ ...everything, ...(knownAsOf === undefined ? {} : { knownAsOf }) });
  /** The lists as if everything so far had happened a minute ago. */
  const aMinuteLater = () =>
    checkin.db.run(sql`update list_change set changed_at = list_change.changed_at - interval '1 minute'`);

  it("[A11.6] is not known before the first change", async () => {
    expect(await changedAt()).toMatchObject({ changedAt: undefined, isUnchanged: false });
    expect(await changedAt(Number.MAX_SAFE_INTEGER)).toMatchObject({ isUnchanged: false });
  });

  it("[A11.1, A11.2, A11.3] moves with every list that is created, changed or deleted, and differs for two changes within a second", async () => {
    const stored = async () =>
      (await checkin.db.one<{ at: number }>(sql`select list_change.changed_at as at from list_change`)).at;
    const { id } = await checkin.createList(listFields());
    const steps = [
      () => checkin.createList(listFields()),
      () =>
        checkin.lists.updateCheckinList({ ...place, id, fields: listFields({ name: "new" }), updateMask: ["name"] }),
      () => checkin.lists.deleteCheckinList({ ...place, id }),
    ];
    for (const step of steps) {
      const before = await stored();
      await step();
      expect(await stored()).toBeGreaterThanOrEqual(before + 1_000_000);
    }
    // Changes within a moment: the last one's time is still to come, so nothing may be told apart by it yet.
    expect(await changedAt(Number.MAX_SAFE_INTEGER)).toMatchObject({ changedAt: undefined, isUnchanged: false });
    await aMinuteLater();
    const last = await stored();
    expect(last % 1_000_000).toBe(0);
    expect(await changedAt(last)).toMatchObject({ isUnchanged: true, lists: [], changedAt: last });
    expect(await changedAt(last + 1_000_000)).toMatchObject({ isUnchanged: true, lists: [], changedAt: last });
    expect(await changedAt(last - 1_000_000)).toMatchObject({ isUnchanged: false, count: 1, changedAt: last });
  });

  it("moves once with everything that a batch of records changes, and not when it changes nothing", async () => {
    const record = (line: number, name: string) => ({
      ...place,
      line,
      kind: "checkin_list",
      deleted: false,
      data: Buffer.from(JSON.stringify({ id: 500 + line, name })),
    });
    const batch = Array.from({ length: 20 }, (_, line) => record(line, `Gate ${line}`));
    await checkin.records.applyRecords({ records: batch });
    const { changedAt: first } = await changedAt();
    expect(first).toBeGreaterThan((Date.now() - 10_000) * 1000);
    await checkin.records.applyRecords({ records: batch });
    expect(await changedAt()).toMatchObject({ changedAt: first });
  });

  it("[A11.4] stays when nothing changes, and when other events or scans do", async () => {
    const { id } = await checkin.createList(listFields({ name: "same" }));
    await aMinuteLater();
    const before = (await changedAt()).changedAt;
    await checkin.lists.updateCheckinList({ ...place, id, fields: listFields({ name: "same" }), updateMask: ["name"] });
    await checkin.lists.createCheckinList({ ...place, event: "single", fields: listFields({ allProducts: true }) });
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    expect(await checkin.redeem(scan(id, "secret1"))).toMatchObject({ outcome: { $case: "admitted" } });
    expect((await changedAt()).changedAt).toBe(before);
  });
});

describe("creating", () => {
  it("[C1.15] gives back what was sent, with an id of its own", async () => {
    const fields = listFields({
      name: "VIP ★",
      allProducts: false,
      limitProducts: [11, 10],
      subevent: 2,
      includePending: true,
      allowMultipleEntries: true,
      allowEntryAfterExit: false,
      rules: " { }\n",
      exitAllAt: noon + 123_456,
      addonMatch: true,
      ignoreInStatistics: true,
      considerTicketsUsed: false,
    });
    const created = await checkin.createList(fields);
    expect(created).toEqual({ id: created.id, fields, positionCount: 0, checkinCount: 0 });
    expect(await checkin.lists.getCheckinList({ ...place, id: created.id })).toEqual({ list: created });
  });

  it.each([
    ["an unknown item", { limitProducts: [10, 12] }, { limit_products: [expect.stringContaining("12")] }],
    [
      "an unknown item, even for all products",
      { allProducts: true, limitProducts: [12] },
      { limit_products: [expect.anything()] },
    ],
    ["a date of another event", { subevent: 9 }, { subevent: [expect.anything()] }],
    [
      "rules that cannot be judged",
      { rules: '{"and": [{"!": 1}]}' },
      { non_field_errors: ['At rules.and[0]: there is no operator "!".'] },
    ],
    [
      "rules that cannot be judged only after what is wrong with fields",
      { rules: '{"and": [{"!": 1}]}', limitProducts: [12] },
      { limit_products: [expect.anything()] },
    ],
    ["rules of null", { rules: "null" }, { rules: [expect.anything()] }],
    [
      "no name and an unknown date",
      { name: " ", subevent: 5 },
      { name: [expect.anything()], subevent: [expect.anything()] },
    ],
  ])("[C1.12, C1.13, C1.16] refuses %s", async (_name, fields, expected) => {
    await expect(checkin.createList(fields)).rejects.toMatchObject({ kind: "invalid", fields: expected });
    expect(await names()).toEqual([]);
  });

  it("[C4.16] gives back rules to the letter", async () => {
    const rules = '{ "inList": [{"var":"product"}, {"objectList": [{"lookup": ["product", "10", "Day"]}]}] }';
    const { id } = await checkin.createList({ rules });
    expect((await checkin.lists.getCheckinList({ ...place, id })).list?.fields?.rules).toBe(rules);
  });

  it("[C1.12] keeps products as they were sent, each once, also where the list covers all", async () => {
    const { fields } = await checkin.createList({ allProducts: true, limitProducts: [11, 10, 11] });
    expect(fields).toMatchObject({ allProducts: true, limitProducts: [11, 10] });
  });

  it("[A8.3, C1.13] refuses a date in an event that is no series", async () => {
    const sent = { ...place, event: "single", fields: listFields({ subevent: 9 }) };
    await expect(checkin.lists.createCheckinList(sent)).rejects.toMatchObject({
      kind: "invalid",
      fields: { non_field_errors: [expect.anything()] },
    });
  });

  it("[A8.8] reports contradictions only when each field is right by itself", async () => {
    const sent = {
      ...place,
      event: "single",
      fields: listFields({ subevent: 9, allProducts: false, limitProducts: [77] }),
    };
    const refusal = await checkin.lists.createCheckinList(sent).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ fields: { limit_products: [expect.anything()] } });
    expect(refusal).not.toHaveProperty("fields.non_field_errors");
  });

  it("finds no list of an unknown event", async () => {
    const nowhere = { organizer: "bigevents", event: "nowhere" };
    const unknown = { kind: "not_found", code: "event_not_found" };
    await expect(checkin.lists.createCheckinList({ ...nowhere, fields: listFields() })).rejects.toMatchObject(unknown);
    await expect(checkin.lists.listCheckinLists({ ...everything, ...nowhere })).rejects.toMatchObject(unknown);
    await expect(checkin.lists.getCheckinList({ ...nowhere, id: 1 })).rejects.toMatchObject(unknown);
  });
});

describe("listing", () => {
  beforeEach(async () => {
    for (const [name, subevent] of [
      ["b", 1],
      ["a", undefined],
      ["d", 2],
      ["c", 1],
      ["e", 3],
      ["a", undefined],
    ] as const) {
      await checkin.createList({ name, subevent });
    }
  });

  it("[A6.3, A6.5] goes by date, then name; those of all dates come last", async () => {
    expect(await names()).toEqual(["e", "b", "c", "d", "a", "a"]);
  });

  it.each([
    [["name"], ["a", "a", "b", "c", "d", "e"]],
    [["-name"], ["e", "d", "c", "b", "a", "a"]],
    [["-id"], ["a", "e", "c", "d", "a", "b"]],
    [
      ["-subevent__date_from", "name"],
      ["a", "a", "d", "b", "c", "e"],
    ],
    [
      ["datetime", "nonsense"],
      ["e", "b", "c", "d", "a", "a"],
    ],
    [
      ["constructor", "id"],
      ["b", "a", "d", "c", "e", "a"],
    ],
    [
      ["id", "id", "id"],
      ["b", "a", "d", "c", "e", "a"],
    ],
  ])("[A6.1, A6.2, A6.3, A6.5] goes by %j", async (ordering, expected) => {
    expect(await names({ ordering })).toEqual(expected);
  });

  it("[A6.4] goes by id, newest first, where all else is equal", async () => {
    const ids = async (ordering: string[]) =>
      (await checkin.lists.listCheckinLists({ ...everything, ordering })).lists.map(({ id }) => id);
    const [b, a, d, c, e, newerA] = await ids(["id"]);
    expect(await ids(["name"])).toEqual([newerA, a, b, c, d, e]);
    expect(await ids(["-name"])).toEqual([e, d, c, b, newerA, a]);
    expect(await ids(["subevent__date_from"])).toEqual([e, c, b, d, newerA, a]);
  });

  it("[A7.6] finds no list of a date without lists", async () => {
    await checkin.deliver(topics.subeventChanged, [subeventFact(4)]);
    expect(await checkin.lists.listCheckinLists({ ...everything, subevent: 4 })).toMatchObject({ count: 0, lists: [] });
  });

  it.each([
    ["of one date", { subevent: 1 }, ["b", "c"]],
    ["valid for a date", { subeventMatch: 1 }, ["b", "c", "a", "a"]],
    ["valid for a date that nobody knows", { subeventMatch: 77 }, ["a", "a"]],
    ["not over yet", { endsAfter: noon + minute }, ["b", "c", "d", "a", "a"]],
    ["ending at this very instant", { endsAfter: noon + 60 * minute, subevent: 1 }, ["b", "c"]],
    ["over", { endsAfter: noon + 61 * minute, subevent: 1 }, []],
    ["of one date that have not ended", { subevent: 1, endsAfter: noon + 61 * minute }, []],
    ["valid for a date, and not over", { subeventMatch: 1, endsAfter: noon + 61 * minute }, ["a", "a"]],
    ["of a date and valid for another", { subevent: 2, subeventMatch: 1 }, []],
    ["in another order", { subeventMatch: 1, endsAfter: noon, ordering: ["-name", "id"] }, ["c", "b", "a", "a"]],
    ["of a date without an end that has begun", { subevent: 3, endsAfter: noon }, []],
    ["of a date without an end that begins now", { subevent: 2, endsAfter: noon + 120 * minute }, ["d"]],
  ])("[C1.1, C1.2, C1.3, C1.4] finds those %s", async (_name, filter, expected) => {
    expect(await names(filter)).toEqual(expected);
  });

  it("[A7.5, C1.1] refuses the date of another event", async () => {
    await expect(names({ subevent: 9 })).rejects.toMatchObject({
      kind: "invalid",
      fields: { subevent: [expect.anything()] },
    });
  });

  it("turns pages", async () => {
    const page = (number: number) =>
      checkin.lists.listCheckinLists({ ...everything, ordering: ["id"], page: number, pageSize: 4 });
    expect(await page(1)).toMatchObject({ count: 6, page: 1, lists: [{}, {}, {}, {}] });
    expect(await page(2)).toMatchObject({ count: 6, page: 2, lists: [{}, {}] });
    expect(await page(0)).toMatchObject({ count: 6, page: 2, lists: [{}, {}] });
    await expect(page(3)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
    await expect(page(-1)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
  });

  it("[A5.12] has one empty page when there are no lists", async () => {
    expect(await checkin.lists.listCheckinLists({ ...everything, event: "single" })).toEqual({
      lists: [],
      changedAt: undefined,
      isUnchanged: false,
      count: 0,
      page: 1,
    });
  });
});

describe("updating", () => {
  it("[C1.17] changes the named fields and no others", async () => {
    const before = await checkin.createList({ name: "before", limitProducts: [10], subevent: 1 });
    const update = { ...place, id: before.id, fields: listFields({ name: "after", subevent: undefined }) };
    const { list } = await checkin.lists.updateCheckinList({ ...update, updateMask: ["name", "subevent"] });
    expect(list).toEqual({ ...before, fields: { ...before.fields, name: "after", subevent: undefined } });
    expect(await checkin.lists.getCheckinList({ ...place, id: before.id })).toEqual({ list });
  });

  it("[C1.17] checks the named fields, not the others", async () => {
    const list = await checkin.createList({ limitProducts: [10], subevent: 1 });
    await checkin.deliver(topics.itemChanged, ["bigevents/sampleconf/10"]);
    await checkin.deliver(topics.subeventChanged, ["bigevents/sampleconf/1"]);
    const update = { ...place, id: list.id, fields: listFields({ name: "renamed", limitProducts: [10], subevent: 1 }) };
    await checkin.lists.updateCheckinList({ ...update, updateMask: ["name"] });
    await expect(
      checkin.lists.updateCheckinList({ ...update, updateMask: ["limit_products", "subevent"] }),
    ).rejects.toMatchObject({ fields: { limit_products: [expect.anything()], subevent: [expect.anything()] } });
  });

  it("[C4.8, C4.9] checks rules only when they are sent", async () => {
    const { id } = await checkin.createList();
    await checkin.db.run(sql`update list set rules = '{"!": 1}' where list.id = ${id}`);
    const update = { ...place, id, fields: listFields({ name: "renamed", rules: '{"!": 1}' }) };
    await checkin.lists.updateCheckinList({ ...update, updateMask: ["name"] });
    await expect(checkin.lists.updateCheckinList({ ...update, updateMask: ["rules"] })).rejects.toMatchObject({
      fields: { non_field_errors: ['At rules: there is no operator "!".'] },
    });
  });

  it("refuses fields and lists that it does not know", async () => {
    const { id } = await checkin.createList();
    const update = { ...place, id, fields: listFields(), updateMask: ["id"] };
    await expect(checkin.lists.updateCheckinList(update)).rejects.toMatchObject({ kind: "invalid" });
    await expect(checkin.lists.updateCheckinList({ ...update, id: id + 1, updateMask: [] })).rejects.toMatchObject({
      kind: "not_found",
      code: "checkin_list_not_found",
    });
    await expect(checkin.lists.updateCheckinList({ ...update, event: "single", updateMask: [] })).rejects.toMatchObject(
      { code: "checkin_list_not_found" },
    );
  });
});

describe("deleting", () => {
  it("[C1.18] deletes the list and all its scans", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const { id } = await checkin.createList();
    const other = await checkin.createList();
    await checkin.redeemAll([scan(id, "secret1"), scan(id, "secret1"), scan(id, "unknown"), scan(other.id, "secret1")]);
    await checkin.lists.deleteCheckinList({ ...place, id });
    const { left } = await checkin.db.one<{ left: number[] }>(sql`
      select array(select scan.list from scan union all select presence.list from presence
                   union all select count_delta.list from count_delta where count_delta.list <> 0) as left`);
    expect(left).toEqual([other.id, other.id, other.id]);
    await expect(checkin.lists.deleteCheckinList({ ...place, id })).rejects.toMatchObject({
      code: "checkin_list_not_found",
    });
  });
});

describe("counting", () => {
  const status = (id: number) => checkin.lists.getCheckinListStatus({ ...place, id });

  beforeEach(() =>
    checkin.deliver(topics.positionChanged, [
      positionFact(1, { subevent: 1 }),
      positionFact(2, { subevent: 1, item: 11 }),
      positionFact(3, { subevent: 2 }),
      positionFact(4, { subevent: 1, order: order({ status: "ORDER_STATUS_PENDING" }) }),
      positionFact(5, { subevent: 1, order: order({ status: "ORDER_STATUS_PENDING", validIfPending: true }) }),
      positionFact(6, { subevent: 1, order: order({ status: "ORDER_STATUS_EXPIRED" }) }),
      positionFact(7, { subevent: 1, order: order({ status: "ORDER_STATUS_CANCELED" }) }),
      positionFact(8, { subevent: 1, canceled: true }),
      positionFact(9, { subevent: 1, blocked: ["admin"], validFrom: noon + minute }),
      positionFact(10, { subevent: 1, item: 11, addonTo: 1 }),
      { ...positionFact(11, { subevent: 1 }), event: "single" },
    ]),
  );

  it.each([
    ["everything", {}, 6],
    ["pending orders too", { includePending: true }, 7],
    ["one date", { subevent: 2 }, 1],
    ["some products", { allProducts: false, limitProducts: [11] }, 2],
    ["no products", { allProducts: false }, 0],
    [
      "products of a date, pending too",
      { allProducts: false, limitProducts: [10], subevent: 1, includePending: true },
      4,
    ],
  ])("[C1.19, C1.8] finds the tickets of a list of %s", async (_name, fields, expected) => {
    const list = await checkin.createList(fields);
    expect(list.positionCount).toBe(expected);
    expect(await status(list.id)).toMatchObject({ positionCount: expected, checkinCount: 0, insideCount: 0 });
    expect((await checkin.lists.listCheckinLists(everything)).lists[0]?.positionCount).toBe(expected);
    expect((await checkin.lists.listCheckinLists({ ...everything, withCounts: false })).lists[0]?.positionCount).toBe(
      0,
    );
  });

  it("[C1.20, C1.21] counts tickets that entered, not scans, and who is inside", async () => {
    const { id } = await checkin.createList({ allowMultipleEntries: true });
    const exit = { type: "SCAN_TYPE_EXIT" } as const;
    await checkin.redeemAll([
      ...["secret1", "secret1", "secret2", "secret3"].map((secret) => scan(id, secret)),
      scan(id, "secret1", exit),
      scan(id, "secret5", exit),
      scan(id, "secret4", { force: true }),
      scan(id, "secret8"),
    ]);
    expect(await status(id)).toMatchObject({ positionCount: 6, checkinCount: 3, insideCount: 2 });
  });

  it("[C1.20, C1.21] counts by the latest scan, whatever came first", async () => {
    const { id } = await checkin.createList({ includePending: true });
    const exit = { type: "SCAN_TYPE_EXIT" } as const;
    await checkin.redeemAll([
      // Out before in, as they arrive.
      scan(id, "secret1", { ...exit, at: noon + minute }),
      scan(id, "secret1", { at: noon, force: true }),
      // In and out in one moment.
      scan(id, "secret2", { at: noon }),
      scan(id, "secret2", { ...exit, at: noon }),
      // A pending order, where the list has those.
      scan(id, "secret4", { at: noon, ignoreUnpaid: true }),
    ]);
    expect(await status(id)).toMatchObject({ positionCount: 7, checkinCount: 3, insideCount: 1 });
    const waiting = order({ status: "ORDER_STATUS_PENDING", requireApproval: true });
    await checkin.deliver(topics.positionChanged, [
      positionFact(12, { subevent: 1, order: waiting }),
      positionFact(1, { subevent: 1, order: order({ status: "ORDER_STATUS_CANCELED" }) }, { revision: 2 }),
    ]);
    expect(await status(id)).toMatchObject({ positionCount: 7, checkinCount: 2, insideCount: 1 });
  });

  it("[C1.22] follows a change of the list at once", async () => {
    const { id } = await checkin.createList();
    await checkin.redeemAll(["secret1", "secret2", "secret3"].map((secret) => scan(id, secret)));
    const fields = listFields({ allProducts: false, limitProducts: [11] });
    await checkin.lists.updateCheckinList({ ...place, id, fields, updateMask: ["all_products", "limit_products"] });
    expect(await status(id)).toMatchObject({ positionCount: 2, checkinCount: 1, insideCount: 1 });
  });

  it("is the same when rows are folded", async () => {
    const { id } = await checkin.createList();
    for (const secret of ["secret1", "secret2", "secret3"]) await checkin.redeem(scan(id, secret));
    await checkin.redeem(scan(id, "secret3", { type: "SCAN_TYPE_EXIT" }));
    const before = await status(id);
    const rows = () => checkin.db.one<{ rows: number }>(sql`select count(*)::integer as rows from count_delta`);
    const { rows: many } = await rows();
    await Promise.all([checkin.runJob("compact-counts"), checkin.runJob("compact-counts")]);
    expect(await status(id)).toEqual(before);
    expect((await rows()).rows).toBeLessThan(many);
    await checkin.deliver(topics.positionChanged, [
      "bigevents/single/11",
      ...Array.from({ length: 10 }, (_, index) => `bigevents/sampleconf/${index + 1}`),
    ]);
    await checkin.runJob("compact-counts");
    expect((await rows()).rows).toBe(0);
  });

  it("[C1.23, C1.24] goes by item and variation, in the shop's order and the event's language", async () => {
    const variation = (id: number, position: number) => ({
      id,
      value: { en: `V${id}`, de: `W${id}` },
      position,
      checkinAttention: false,
    });
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2, hasSubevents: true, locale: "de" })]);
    await checkin.deliver(topics.categoryChanged, [categoryFact(1, 2), categoryFact(2, 1)]);
    await checkin.deliver(topics.itemChanged, [
      itemFact(10, { revision: 2, category: 1, name: { en: "Ticket", de: "Karte" } }),
      itemFact(11, { revision: 2, category: 2, position: 5, internalName: "Internal" }),
      itemFact(12, { category: 2, position: 1, admission: false, variations: [variation(2, 1), variation(1, 0)] }),
      itemFact(13, { position: 0 }),
    ]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(20, { subevent: 1, item: 12, variation: 1 }),
      positionFact(21, { subevent: 1, item: 12, variation: 2 }),
      positionFact(22, { subevent: 1, item: 12, variation: 2 }),
    ]);
    const { id } = await checkin.createList();
    await checkin.redeem(scan(id, "secret21"));
    const counts = (positionCount: number, checkinCount = 0) => ({ positionCount, checkinCount });
    expect(await status(id)).toEqual({
      eventName: "Musterkonferenz",
      ...counts(9, 1),
      insideCount: 1,
      items: [
        {
          id: 12,
          name: "Item 12",
          admission: false,
          ...counts(3, 1),
          variations: [
            { id: 1, value: "W1", ...counts(1) },
            { id: 2, value: "W2", ...counts(2, 1) },
          ],
        },
        { id: 11, name: "Internal", admission: true, ...counts(2), variations: [] },
        { id: 10, name: "Karte", admission: true, ...counts(4), variations: [] },
        { id: 13, name: "Item 13", admission: true, ...counts(0), variations: [] },
      ],
    });
    const dated = await checkin.createList({ subevent: 2, allProducts: false, limitProducts: [10] });
    expect(await status(dated.id)).toMatchObject({ eventName: "Date 2", items: [{ id: 10, positionCount: 1 }] });
  });
});

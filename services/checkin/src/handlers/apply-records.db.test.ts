import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import type { CheckinListFields } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, minute, noon, place, positionFact, subeventFact } from "../testing/facts.ts";
import { listFields, scan, startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
});

const record = (line: number, data: unknown, changes = {}) => ({
  line,
  kind: "checkin_list",
  ...place,
  deleted: false,
  data: Buffer.from(typeof data === "string" ? data : JSON.stringify(data)),
  ...changes,
});
const apply = (...records: ReturnType<typeof record>[]) => checkin.records.applyRecords({ records });
const shown = async (id: number) => (await checkin.lists.getCheckinList({ ...place, id })).list?.fields;

describe("records of check-in lists", () => {
  it("[R2.3, R2.5, R2.16, R4.1] are taken over as they are, with their ids and with defaults", async () => {
    const all = {
      id: 500,
      name: "Door",
      all_products: false,
      limit_products: [10],
      subevent: 3,
      include_pending: true,
      allow_multiple_entries: true,
      allow_entry_after_exit: false,
      rules: {},
      exit_all_at: "2026-11-21T13:00:00.5+01:00",
      addon_match: true,
      ignore_in_statistics: true,
      consider_tickets_used: false,
      hard_limit: 800,
      takes_from: [501],
      gates: [7],
    };
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2, hasSubevents: true })]);
    await checkin.deliver(topics.subeventChanged, [subeventFact(3)]);
    expect(await apply(record(1, all), record(2, { id: 501, name: "Plain" }))).toEqual({
      rejected: [],
      ignored: { keys: [{ kind: "checkin_list", key: "gates", count: 1 }] },
    });
    expect(await shown(500)).toEqual({
      name: "Door",
      allProducts: false,
      limitProducts: [10],
      subevent: 3,
      includePending: true,
      allowMultipleEntries: true,
      allowEntryAfterExit: false,
      rules: "{}",
      exitAllAt: noon + 500_000,
      addonMatch: true,
      ignoreInStatistics: true,
      considerTicketsUsed: false,
      softLimit: undefined,
      hardLimit: 800,
      takesFrom: [501],
    });
    expect(await shown(501)).toEqual(listFields({ name: "Plain" }));
  });

  it("[R3.59, R5.2] may come again, changed or not, and keep what was scanned", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await apply(record(1, { id: 500, name: "Door" }));
    await checkin.redeem(scan(500, "secret1"));
    await apply(record(1, { id: 500, name: "Door" }), record(2, { id: 500, name: "Gate", include_pending: true }));
    expect(await checkin.lists.getCheckinList({ ...place, id: 500 })).toMatchObject({
      list: { fields: { name: "Gate", includePending: true }, positionCount: 1, checkinCount: 1 },
    });
  });

  it("[R3.72] bring and replace no list that was made here", async () => {
    const largest = 1_000_000_000_000;
    const made = await Promise.all([1, 2, 3].map((number) => checkin.createList({ name: `Made here ${number}` })));
    for (const { id } of made) expect(id).toBeGreaterThan(largest);
    const ids = [...made.map(({ id }) => id), 2 ** 50, largest, 7];
    const { rejected } = await apply(...ids.map((id, index) => record(index, { id, name: "Door" })));
    expect(rejected.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([
      [0, ["id"]],
      [1, ["id"]],
      [2, ["id"]],
      [3, ["id"]],
    ]);
    expect(await shown(largest)).toMatchObject({ name: "Door" });
    expect((await Promise.all(made.map(({ id }) => shown(id)))).map((fields) => fields?.name)).toEqual(
      [1, 2, 3].map((number) => `Made here ${number}`),
    );
    const next = await checkin.createList();
    expect(made.map(({ id }) => id)).not.toContain(next.id);
  });

  it("[R3.73] do not take back the daily move of an automatic exit, and change nothing when they come again", async () => {
    const day = 24 * 60 * minute;
    const sent = (changes = {}) =>
      record(1, { id: 500, name: "Night", exit_all_at: "2026-11-21T11:00:00Z", ...changes });
    const changes = () => checkin.db.many(sql`select changed_at, changed_in::text as changed_in from list_change`);
    await apply(sent());
    await checkin.runJob("exit-due-lists");
    const moved = noon - 60 * minute + day;
    expect(await shown(500)).toMatchObject({ exitAllAt: moved });
    const before = await changes();
    await apply(sent());
    expect(await shown(500)).toMatchObject({ exitAllAt: moved });
    expect(await changes()).toEqual(before);
    await apply(sent({ name: "Late night" }));
    expect(await shown(500)).toMatchObject({ name: "Late night", exitAllAt: moved });
    await apply(sent({ exit_all_at: "2026-11-22T04:00:00Z" }));
    expect(await shown(500)).toMatchObject({ exitAllAt: noon + 16 * 60 * minute });
    await apply(sent());
    expect(await shown(500)).toMatchObject({ exitAllAt: noon - 60 * minute });
  });

  it("[R3.73] take back what was set here, as for every other field", async () => {
    const sent = record(1, { id: 500, name: "Night", exit_all_at: "2026-11-22T04:00:00Z" });
    await apply(sent);
    const fields = { ...(await shown(500)), exitAllAt: noon + minute, name: "Renamed" } as CheckinListFields;
    await checkin.lists.updateCheckinList({ ...place, id: 500, fields, updateMask: ["exit_all_at", "name"] });
    await apply(sent);
    expect(await shown(500)).toMatchObject({ name: "Night", exitAllAt: noon + 16 * 60 * minute });
    await checkin.lists.updateCheckinList({ ...place, id: 500, fields, updateMask: ["name"] });
    await apply(sent);
    expect(await shown(500)).toMatchObject({ name: "Night", exitAllAt: noon + 16 * 60 * minute });
  });

  it("[R2.6, R2.7] remove a list, and what is not there any more is no mistake", async () => {
    await apply(record(1, { id: 500, name: "Door" }));
    const removal = record(1, { id: 500 }, { deleted: true });
    expect(await apply(removal, removal)).toEqual({ rejected: [] });
    await expect(shown(500)).rejects.toMatchObject({ code: "checkin_list_not_found" });
  });

  it.each([
    ['[{"<":[1,2]}]', 1],
    ['"{\\"<\\":[1,2]}"', 1],
    ["true", 1],
    ["[]", 0],
    ['""', 0],
    ["{}", 0],
  ])("[C4.1] warn of rules that have no effect: %s", async (rules, warnings) => {
    const { warned } = await apply(record(1, { id: 504, name: "Open", rules: JSON.parse(rules) }));
    expect(warned?.records.map(({ errors }) => errors.map(({ field }) => field)) ?? []).toEqual(
      warnings === 0 ? [] : [["rules"]],
    );
    expect(await shown(504)).toMatchObject({ rules });
  });

  it("[C4.9] bring their rules along, which are checked as anywhere", async () => {
    const rules = { "<": [{ var: "entries_number" }, 3] };
    const { rejected } = await apply(
      record(1, { id: 500, name: "Ruled", rules }),
      record(2, { id: 501, name: "Ruled", rules: { "!": [rules] } }),
      record(3, { id: 503, name: "Without", rules: null }),
    );
    expect(rejected.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([[2, ["rules"]]]);
    expect(await shown(500)).toMatchObject({ rules: JSON.stringify(rules) });
    expect(await shown(503)).toMatchObject({ rules: "{}" });
  });

  it("[R2.4, R3.58, R4.4, R4.8, R6.2] are rejected one by one, or taken with a warning", async () => {
    const { rejected, warned } = await apply(
      record(10, { id: 500, name: "Good" }),
      record(11, { name: "" }),
      record(12, "{"),
      record(13, { id: 2 ** 50 + 1, name: "Beyond" }),
      record(14, { id: 501, name: "Ruled", rules: { "===": [0, 1] } }),
      record(15, { id: 502, name: "Odd", limit_products: ["x"], exit_all_at: "noon" }),
      record(16, {}, { deleted: true }),
      record(17, { id: 503, name: "Nowhere" }, { event: "" }),
      record(18, { id: 504 }, { kind: "order" }),
      record(19, { id: 505, name: "nul\0" }),
      record(20, { id: 506, name: "Good too" }),
    );
    expect(rejected.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([
      [11, ["id"]],
      [12, ["non_field_errors"]],
      [13, ["id"]],
      [14, ["rules"]],
      [16, ["id"]],
      [17, ["event"]],
      [18, ["kind"]],
    ]);
    expect(warned?.records.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([
      [15, ["limit_products", "exit_all_at"]],
      [19, ["name"]],
    ]);
    expect([await shown(500), await shown(506)]).toMatchObject([{ name: "Good" }, { name: "Good too" }]);
  });

  it("[C1.12] warn of products that they name without a limit", async () => {
    const { warned } = await apply(
      record(1, { id: 1, name: "Everybody", limit_products: [10] }),
      record(2, { id: 2, name: "Some", all_products: false, limit_products: [10] }),
      record(3, { id: 3, name: "All", limit_products: [] }),
    );
    expect(warned?.records).toEqual([
      { line: 1, errors: [{ field: "limit_products", messages: [expect.stringContaining("send false")] }] },
    ]);
  });

  it("[R3.58, R5.7, R6.11] are rejected where they name a date that their event does not have, and warn of its items", async () => {
    const { rejected, warned } = await apply(
      record(1, { id: 1, name: "Door", all_products: false, limit_products: [10, 99] }),
      record(2, { id: 2, name: "Door", subevent: 3 }),
      record(3, { id: 3, name: "Door" }, { event: "tomorrow" }),
      record(5, { id: 5, name: "", limit_products: [99], rules: { "===": [0, 1] } }),
      record(4, { id: 4, name: "Door", all_products: false, limit_products: [10] }),
    );
    expect(rejected.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([
      [2, ["subevent"]],
      [3, ["event"]],
      [5, ["rules"]],
    ]);
    expect(warned?.records.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([
      [1, ["limit_products"]],
    ]);
    expect(await shown(4)).toMatchObject({ limitProducts: [10] });
    expect(await shown(1)).toMatchObject({ limitProducts: [10, 99] });
  });

  it("[R6.5] of several events do not deadlock with each other, nor with changes of these lists", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact({ event: "second" })]);
    const places = Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? place : { ...place, event: "second" }));
    const lists = (name: string) => places.map((at, index) => record(index + 1, { id: 600 + index, name }, at));
    await apply(...lists("first"));
    for (let round = 0; round < 8; round += 1) {
      const updates = places.map((at, index) =>
        checkin.lists.updateCheckinList({
          ...at,
          id: 600 + index,
          fields: listFields({ name: `changed ${round}` }),
          updateMask: ["name"],
        }),
      );
      const imports = [lists(`one ${round}`), lists(`other ${round}`).toReversed()].map((all) => apply(...all));
      expect(await Promise.all(imports)).toEqual([{ rejected: [] }, { rejected: [] }]);
      await Promise.all(updates);
    }
    // Connections report deadlocks once a second. Aborted transactions are retried, so nothing else shows them.
    await sleep(1200);
    const { deadlocks } = await checkin.db.one<{ deadlocks: number }>(
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    );
    expect(deadlocks).toBe(0);
  });

  it("[C10.1] are taken without a limit that does not fit and without themselves, with warnings", async () => {
    const { warned } = await apply(record(1, { id: 500, soft_limit: 9, hard_limit: 5, takes_from: [500, 501] }));
    expect(warned?.records.map(({ errors }) => errors.map(({ field }) => field).toSorted())).toEqual([
      ["soft_limit", "takes_from"],
    ]);
    expect(await shown(500)).toMatchObject({ softLimit: undefined, hardLimit: 5, takesFrom: [501] });
  });

  it("[C10.6] take from no list that is deleted", async () => {
    await apply(record(1, { id: 500, takes_from: [501] }), record(2, { id: 501 }));
    await checkin.lists.deleteCheckinList({ ...place, id: 501 });
    expect(await shown(500)).toMatchObject({ takesFrom: [] });
  });
});

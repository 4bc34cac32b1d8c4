import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { minute, noon, place, positionFact, subeventFact } from "../testing/facts.ts";
import { everything, listsOfSeries } from "../testing/lists-of-series.ts";
import { listFields, scan } from "../testing/start-checkin.ts";

const series = listsOfSeries();
const { names } = series;

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
      await series.checkin.createList({ name, subevent });
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
      (await series.checkin.lists.listCheckinLists({ ...everything, ordering })).lists.map(({ id }) => id);
    const [b, a, d, c, e, newerA] = await ids(["id"]);
    expect(await ids(["name"])).toEqual([newerA, a, b, c, d, e]);
    expect(await ids(["-name"])).toEqual([e, d, c, b, newerA, a]);
    expect(await ids(["subevent__date_from"])).toEqual([e, c, b, d, newerA, a]);
  });

  it("[A7.6] finds no list of a date without lists", async () => {
    await series.checkin.deliver(topics.subeventChanged, [subeventFact(4)]);
    expect(await series.checkin.lists.listCheckinLists({ ...everything, subevent: 4 })).toMatchObject({
      count: 0,
      lists: [],
    });
  });

  it.each([
    ["of one date", { subevent: 1 }, ["b", "c"]],
    ["valid for a date", { subeventMatch: 1 }, ["b", "c", "a", "a"]],
    ["valid for a date that is not known", { subeventMatch: 77 }, ["a", "a"]],
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
      series.checkin.lists.listCheckinLists({ ...everything, ordering: ["id"], page: number, pageSize: 4 });
    expect(await page(1)).toMatchObject({ count: 6, page: 1, lists: [{}, {}, {}, {}] });
    expect(await page(2)).toMatchObject({ count: 6, page: 2, lists: [{}, {}] });
    expect(await page(0)).toMatchObject({ count: 6, page: 2, lists: [{}, {}] });
    await expect(page(3)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
    await expect(page(-1)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
  });

  it("[A5.12] has one empty page when there are no lists", async () => {
    expect(await series.checkin.lists.listCheckinLists({ ...everything, event: "single" })).toEqual({
      lists: [],
      changedAt: undefined,
      isUnchanged: false,
      count: 0,
      page: 1,
    });
  });
});

describe("the time of the last change", () => {
  const changedAt = async (knownAsOf?: number) =>
    series.checkin.lists.listCheckinLists({ ...everything, ...(knownAsOf === undefined ? {} : { knownAsOf }) });
  /** Sets the times back, as if everything had happened a minute earlier. */
  const aMinuteLater = () =>
    series.checkin.db.run(sql`update list_change set changed_at = list_change.changed_at - interval '1 minute'`);

  it("[A11.6] is not known before the first change", async () => {
    expect(await changedAt()).toMatchObject({ changedAt: undefined, isUnchanged: false });
    expect(await changedAt(Number.MAX_SAFE_INTEGER)).toMatchObject({ isUnchanged: false });
  });

  it("[A11.1, A11.2, A11.3] moves with every list that is created, changed or deleted, and differs for two changes within a second", async () => {
    const stored = async () =>
      (await series.checkin.db.one<{ at: number }>(sql`select list_change.changed_at as at from list_change`)).at;
    const { id } = await series.checkin.createList(listFields());
    const steps = [
      () => series.checkin.createList(listFields()),
      () =>
        series.checkin.lists.updateCheckinList({
          ...place,
          id,
          fields: listFields({ name: "new" }),
          updateMask: ["name"],
        }),
      () => series.checkin.lists.deleteCheckinList({ ...place, id }),
    ];
    for (const step of steps) {
      const before = await stored();
      await step();
      expect(await stored()).toBeGreaterThanOrEqual(before + 1_000_000);
    }
    // After many changes within a second the time of the last change is in the future, so it identifies no state yet.
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
    await series.checkin.records.applyRecords({ records: batch });
    const { changedAt: first } = await changedAt();
    expect(first).toBeGreaterThan((Date.now() - 10_000) * 1000);
    await series.checkin.records.applyRecords({ records: batch });
    expect(await changedAt()).toMatchObject({ changedAt: first });
  });

  it("[A11.4] stays when nothing changes, and when other events or scans do", async () => {
    const { id } = await series.checkin.createList(listFields({ name: "same" }));
    await aMinuteLater();
    const before = (await changedAt()).changedAt;
    await series.checkin.lists.updateCheckinList({
      ...place,
      id,
      fields: listFields({ name: "same" }),
      updateMask: ["name"],
    });
    await series.checkin.lists.createCheckinList({
      ...place,
      event: "single",
      fields: listFields({ allProducts: true }),
    });
    await series.checkin.deliver(topics.positionChanged, [positionFact(1)]);
    expect(await series.checkin.redeem(scan(id, "secret1"))).toMatchObject({ outcome: { $case: "admitted" } });
    expect((await changedAt()).changedAt).toBe(before);
  });
});

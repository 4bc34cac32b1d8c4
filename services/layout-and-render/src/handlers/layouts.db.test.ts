import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { layoutDatabase } from "../testing/database.ts";
import { place, startLayout } from "../testing/start-layout.ts";

const { db } = await layoutDatabase();
const service = await startLayout(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const notFound = { kind: "not_found", code: "layout_not_found" };
const secondDefault = {
  code: "second_default",
  fields: { non_field_errors: ["Another layout of this event is the default already."] },
};
const defaults = async () => (await service.list()).filter(({ isDefault }) => isDefault).map(({ name }) => name);
const assign = async (layout: number, ...wanted: (readonly [number, string])[]) => {
  const assignments = wanted.map(([item, salesChannel]) => ({ item, salesChannel }));
  return (await service.layouts.setAssignments({ ...place, layout, assignments })).layout?.itemAssignments;
};
const assignments = async () =>
  (await service.layouts.listAssignments({ ...place, page: 1, pageSize: 50 })).assignments;

describe("a layout", () => {
  it("[L1.1, L1.2] is created, and shown as it was sent", async () => {
    const elements = '[ {"size": 1.0, "type": "poweredby", "left": 1e2, "bottom": "007.50", "content": "dark"} ]';
    const made = await service.create({ name: "VIP", elements });
    expect(made).toEqual({
      ...{ id: expect.any(Number), name: "VIP", isDefault: false, elements },
      ...{ background: undefined, itemAssignments: [] },
    });
    expect(made.id).toBeGreaterThan(1_000_000_000_000);
    expect(await service.get(made.id)).toEqual(made);
  });

  it("[L1.3] stands in a list that is sorted by name", async () => {
    for (const name of ["b", "a", "c", "a"]) await service.create({ name });
    const all = await service.list();
    expect(all.map(({ name }) => name)).toEqual(["a", "a", "b", "c"]);
    expect(all[0]?.id).toBeLessThan(all[1]?.id ?? 0);
    const last = await service.layouts.listLayouts({ ...place, page: 0, pageSize: 3 });
    expect([last.count, last.page, last.layouts.map(({ name }) => name)]).toEqual([4, 2, ["c"]]);
  });

  it("[L1.4] is changed in what was sent", async () => {
    const { id } = await service.create({ name: "a", elements: "[1]" });
    expect(await service.update(id, { name: "b" })).toMatchObject({ name: "b", elements: "[1]", isDefault: false });
    expect(await service.update(id, { elements: "[2]", isDefault: true })).toMatchObject({
      ...{ name: "b", elements: "[2]", isDefault: true },
    });
    expect(await service.get(id)).toMatchObject({ name: "b", elements: "[2]", isDefault: true });
  });

  it("[L1.6] is deleted with its assignments", async () => {
    const { id } = await service.create();
    await assign(id, [1, "web"]);
    await service.layouts.deleteLayout({ ...place, id });
    await expect(service.get(id)).rejects.toMatchObject(notFound);
    expect(await assignments()).toEqual([]);
    await expect(service.layouts.deleteLayout({ ...place, id })).rejects.toMatchObject(notFound);
  });

  it("[R4.2, S1.3] is of one event", async () => {
    await service.prepareEvent({ event: "other" });
    const { id } = await service.create();
    const other = { ...place, event: "other" };
    await expect(service.layouts.getLayout({ ...other, id })).rejects.toMatchObject(notFound);
    await expect(service.layouts.deleteLayout({ ...other, id })).rejects.toMatchObject(notFound);
    await expect(service.layouts.setAssignments({ ...other, layout: id, assignments: [] })).rejects.toMatchObject(
      notFound,
    );
    expect((await service.layouts.listLayouts({ ...other, page: 1, pageSize: 50 })).count).toBe(0);
  });

  it("of an event that is not known is not there", async () => {
    const nowhere = { ...place, event: "nowhere" };
    const unknown = { kind: "not_found", code: "layout_event_not_found" };
    await expect(service.create({}, nowhere)).rejects.toMatchObject(unknown);
    await expect(service.layouts.getLayout({ ...nowhere, id: 1 })).rejects.toMatchObject(unknown);
    await expect(service.layouts.listAssignments({ ...nowhere, page: 1, pageSize: 1 })).rejects.toMatchObject(unknown);
  });

  it("has no other fields than it has", async () => {
    const { id } = await service.create();
    await expect(service.update(id, { size: 1 } as object)).rejects.toMatchObject({ code: "invalid_mask" });
  });

  it("is created once where its request is repeated", async () => {
    const requestId = randomUUID();
    const create = () => runInContext({ requestId }, () => service.create());
    const [first, second] = [await create(), await create()];
    expect(second).toEqual(first);
    expect(await service.list()).toHaveLength(1);
  });
});

describe("the default", () => {
  it("[L3.1] is one layout at most; another one is refused, and the same may say it again", async () => {
    const first = await service.create({ name: "first", isDefault: true });
    const second = await service.create({ name: "second" });
    await expect(service.create({ isDefault: true })).rejects.toMatchObject(secondDefault);
    await expect(service.update(second.id, { isDefault: true })).rejects.toMatchObject(secondDefault);
    expect(await service.update(first.id, { isDefault: true, name: "still" })).toMatchObject({ isDefault: true });
    expect(await defaults()).toEqual(["still"]);
  });

  it("[L3.2] is not given to the first layout by itself, and may be taken away", async () => {
    const { id } = await service.create();
    expect(await defaults()).toEqual([]);
    await service.update(id, { isDefault: true });
    await service.update(id, { isDefault: false });
    expect(await defaults()).toEqual([]);
  });

  it("[L3.3] goes to the first that remains by name when it is deleted", async () => {
    const { id } = await service.create({ name: "m", isDefault: true });
    for (const name of ["z", "b", "y"]) await service.create({ name });
    const others = await service.list();
    const other = others.find(({ name }) => name === "z")?.id ?? 0;
    await service.layouts.deleteLayout({ ...place, id: other });
    expect(await defaults()).toEqual(["m"]);
    await service.layouts.deleteLayout({ ...place, id });
    expect(await defaults()).toEqual(["b"]);
    for (const { id: left } of await service.list()) await service.layouts.deleteLayout({ ...place, id: left });
    expect(await defaults()).toEqual([]);
  });

  it("[L3.4] is one also of twenty that are made at the same time", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => service.create({ name: `${index}`, isDefault: true })),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(19);
    for (const { reason } of refused) expect(reason).toMatchObject(secondDefault);
    expect(await defaults()).toHaveLength(1);
  });

  it("[L3.4] is given on when all layouts but one are deleted at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const made = await Promise.all(
        Array.from({ length: 6 }, (_, index) => service.create({ name: `${index}`, isDefault: index === 0 })),
      );
      const [last, ...others] = made.reverse();
      await Promise.all(others.map(({ id }) => service.layouts.deleteLayout({ ...place, id })));
      expect(await service.get(last?.id ?? 0)).toMatchObject({ isDefault: true });
      await service.layouts.deleteLayout({ ...place, id: last?.id ?? 0 });
    }
  });
});

describe("assignments", () => {
  it("[L4.1] are put in place of all that the layout has, and those that stay keep their ids", async () => {
    const { id } = await service.create();
    expect(await assign(id, [1, "web"], [2, "web"])).toEqual([
      { item: 1, salesChannel: "web" },
      { item: 2, salesChannel: "web" },
    ]);
    const [, second] = await assignments();
    expect(await assign(id, [2, "resellers"], [2, "web"])).toEqual([
      { item: 2, salesChannel: "web" },
      { item: 2, salesChannel: "resellers" },
    ]);
    expect((await assignments())[0]).toEqual(second);
    expect((await service.get(id)).itemAssignments).toHaveLength(2);
    expect(await assign(id)).toEqual([]);
    expect(await assignments()).toEqual([]);
  });

  it("[L4.2] are refused where a product or channel is not known, or another layout is for both", async () => {
    const [one, two] = [await service.create({ name: "one" }), await service.create({ name: "two" })];
    await assign(one.id, [1, "web"]);
    await expect(assign(two.id, [2, "web"], [9, "magic"], [1, "web"])).rejects.toMatchObject({
      code: "invalid_assignments",
      fields: {
        "1.item": ['Invalid id "9": this event has no such item.'],
        "1.sales_channel": ["Object with identifier=magic does not exist."],
        "2.non_field_errors": [expect.stringContaining(String(one.id))],
      },
    });
    expect(await assignments()).toHaveLength(1);
    expect(await assign(two.id, [1, "resellers"])).toHaveLength(1);
  });

  it("[L4.3] are listed by id, in pages, and found one by one", async () => {
    const { id } = await service.create();
    await assign(id, [3, "web"], [1, "web"], [2, "web"]);
    const all = await assignments();
    expect(all.map(({ item }) => item)).toEqual([3, 1, 2]);
    expect(all[0]).toEqual({ id: expect.any(Number), layout: id, item: 3, salesChannel: "web" });
    const { assignment } = await service.layouts.getAssignment({ ...place, id: all[1]?.id ?? 0 });
    expect(assignment).toEqual(all[1]);
    const page = await service.layouts.listAssignments({ ...place, page: 2, pageSize: 2 });
    expect([page.count, page.assignments]).toEqual([3, [all[2]]]);
    await expect(service.layouts.getAssignment({ ...place, id: 5 })).rejects.toMatchObject({
      code: "assignment_not_found",
    });
  });

  it("[L4.4] go with their product", async () => {
    const { id } = await service.create();
    await assign(id, [1, "web"], [2, "web"]);
    await service.deliver(topics.itemChanged, [`${place.organizer}/${place.event}/1`]);
    expect((await assignments()).map(({ item }) => item)).toEqual([2]);
    await service.sweep(topics.itemChanged, 1000);
    expect(await assignments()).toEqual([]);
    expect((await service.get(id)).itemAssignments).toEqual([]);
  });
});

it("[L4.6] a product that is deleted while it is assigned is named as one that there is not", async () => {
  const { id } = await service.create();
  let assigning: Promise<unknown> = Promise.resolve();
  await service.db.transaction(async (tx) => {
    await tx.run(sql`delete from item where item.id = 2`);
    assigning = assign(id, [1, "web"], [2, "web"]).catch((error: unknown) => error);
    // The request waits for the lock that is held here.
    const waiting = sql`
      select from pg_locks
        join pg_stat_activity as session on session.pid = pg_locks.pid
       where session.datname = current_database() and not pg_locks.granted`;
    await expect.poll(() => service.db.many(waiting)).toHaveLength(1);
  });
  expect(await assigning).toMatchObject({
    code: "invalid_assignments",
    fields: { "1.item": ['Invalid id "2": this event has no such item.'] },
  });
  expect(await assignments()).toEqual([]);
});

describe("[L1.7] the layouts of a deleted event", () => {
  const goneFor = (interval: string) =>
    service.db.run(sql`update gone_event set gone_at = now() - ${interval}::interval`);
  const left = async () => (await service.db.many(sql`select from layout`)).length;

  it("are deleted with it: the next event of its name has none of them", async () => {
    await service.prepareEvent({ event: "other" });
    await service.create({}, { ...place, event: "other" });
    const { id } = await service.create();
    await assign(id, [1, "web"]);
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`]);
    await expect(service.get(id)).rejects.toMatchObject({ code: "layout_event_not_found" });
    expect(await left()).toBe(1);
    expect(await service.db.many(sql`select from assignment`)).toEqual([]);
    await service.prepareEvent();
    await expect(service.get(id)).rejects.toMatchObject({ code: "layout_not_found" });
  });

  it("are out of reach, and deleted a day later, where a rebuild left it out", async () => {
    const { id } = await service.create();
    await service.sweep(topics.eventChanged, 1000);
    await expect(service.get(id)).rejects.toMatchObject({ code: "layout_event_not_found" });
    await goneFor("23 hours");
    await service.runJob("remove-gone-events");
    expect(await left()).toBe(1);
    await goneFor("25 hours");
    await service.runJob("remove-gone-events");
    expect(await left()).toBe(0);
    expect(await service.db.many(sql`select from gone_event`)).toEqual([]);
  });

  it("are there again if it comes back in time", async () => {
    const { id } = await service.create();
    await service.sweep(topics.eventChanged, 1000);
    await goneFor("25 hours");
    await service.prepareEvent();
    await service.runJob("remove-gone-events");
    expect(await service.get(id)).toMatchObject({ id });
    expect(await service.db.many(sql`select from gone_event`)).toEqual([]);
  });
});

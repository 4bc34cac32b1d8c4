import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { runInContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { beforeEach, describe, expect, it } from "vitest";
import { offlineSalesDatabase } from "../testing/database.ts";
import { place, startOfflineSales, wanted } from "../testing/start-offline-sales.ts";

const { db } = await offlineSalesDatabase();
const service = await startOfflineSales(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const elsewhere = { organizer: "bigevents", event: "elsewhere" };
const list = async (inEvent: typeof elsewhere = place) =>
  (await service.batches.listBatches({ ...inEvent, page: 1, pageSize: 50 })).batches.map(({ comment }) => comment);

describe("a new batch", () => {
  it("[O12.1] is made by a job, with its orders in the order in which they were made", async () => {
    const { job } = await service.batches.createBatch(wanted);
    expect(await service.batches.findCreation({ ...place, job })).toMatchObject({ state: JobState.WAITING });
    await service.work();
    const { state, batch } = await service.batches.findCreation({ ...place, job });
    expect(state).toBe(JobState.SUCCEEDED);
    const { organizer: _organizer, event: _event, ...fields } = wanted;
    expect(batch).toMatchObject({ ...fields, orders: ["CODE1", "CODE2", "CODE3", "CODE4", "CODE5"] });
    expect((await service.batches.getBatch({ ...place, id: batch?.id ?? 0 })).batch).toEqual(batch);
    expect(service.peers.asked).toMatchObject([
      { ...place, item: 1, amount: 5, salesChannel: "web", onlyCheck: true },
      { ...place, item: 1, amount: 5, salesChannel: "web", onlyCheck: false, sale: job },
    ]);
  });

  it("[O11.3] is refused at once for all that can be known, by field", async () => {
    service.peers.sell = async () => ({
      problems: [
        { field: "item", message: "It needs a seat." },
        { field: "sales_channel", message: "It is not sold there." },
      ],
      tickets: [],
    });
    await expect(service.batches.createBatch({ ...wanted, layout: 8 })).rejects.toMatchObject({
      code: "invalid_batch",
      fields: {
        item: ["It needs a seat."],
        sales_channel: ["It is not sold there."],
        layout: ['Invalid id "8": this event has no such layout.'],
      },
    });
    await service.work();
    expect(service.peers.asked).toHaveLength(1);
  });

  it("[O12.2] fails with a message where the tickets are not available, and leaves nothing", async () => {
    const { job } = await service.batches.createBatch(wanted);
    service.peers.sell = async () => ({ problems: [{ field: "", message: "Only 3 tickets are left." }], tickets: [] });
    await service.work();
    expect(await service.batches.findCreation({ ...place, job })).toMatchObject({
      state: JobState.FAILED,
      message: "Only 3 tickets are left.",
    });
    expect(await list()).toEqual([]);
  });

  it("[O12.3] is found by those who name its event and its job alone", async () => {
    await service.prepareEvent(elsewhere);
    const { job } = await service.batches.createBatch(wanted);
    await service.work();
    const finding = service.batches.findCreation({ ...elsewhere, job });
    await expect(finding).rejects.toMatchObject({ code: "creation_not_found" });
    const unknown = service.batches.findCreation({ ...place, job: randomUUID() });
    await expect(unknown).rejects.toMatchObject({ code: "creation_not_found" });
  });

  it("[O12.4] is made once for one request, however often it comes", async () => {
    const requestId = randomUUID();
    const create = () => runInContext({ requestId }, () => service.batches.createBatch(wanted));
    const [first, second] = [await create(), await create()];
    expect(second).toEqual(first);
    await service.work();
    expect(await list()).toHaveLength(1);
  });

  it("[O12.4] is not judged again when its request is repeated", async () => {
    const requestId = randomUUID();
    const create = () => runInContext({ requestId }, () => service.batches.createBatch(wanted));
    const first = await create();
    service.peers.layouts.clear();
    expect(await create()).toEqual(first);
    await expect(service.batches.createBatch(wanted)).rejects.toMatchObject({ code: "invalid_batch" });
  });

  it("[O12.6] is not made where its event was deleted meanwhile, not even of an event that gets the name", async () => {
    const { job } = await service.batches.createBatch(wanted);
    service.peers.sell = async (request) => {
      await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}`], {
        at: await databaseTime(service.db),
      });
      return { problems: [], tickets: [...service.sellOnce(request)] };
    };
    await service.work();
    await service.prepareEvent();
    await expect(service.batches.findCreation({ ...place, job })).rejects.toMatchObject({ code: "creation_not_found" });
    expect(await list()).toEqual([]);
  });
});

describe("lists", () => {
  beforeEach(async () => {
    await service.prepareEvent(elsewhere);
    service.peers.layouts.add(8);
    await service.make({ comment: "first" });
    await service.make({ comment: "second", item: 2, variation: 21, layout: 8, testmode: true });
    await service.make({ comment: "third", subevent: 5, salesChannel: "resellers" });
    await service.make({ ...elsewhere, comment: "of another event" });
  });

  it("[O10.1] show the batches of the event without their orders, in pages, by their ids", async () => {
    expect(await list()).toEqual(["first", "second", "third"]);
    const found = await service.batches.listBatches({ ...place, page: 0, pageSize: 2 });
    expect(found).toMatchObject({ count: 3, page: 2, batches: [{ comment: "third", subevent: 5, orders: [] }] });
  });
});

describe("rendering", () => {
  it("[O13.1, O13.6] takes the tickets in the order of the orders, with the layout of the batch", async () => {
    const { id } = await service.make();
    const { job, file } = await service.batches.renderBatch({ ...place, id });
    const parts = [1, 2, 3, 4, 5].map((position) => ({ position, overrideLayout: 7, overrideChannel: undefined }));
    expect(service.peers.rendered).toEqual([{ ...place, parts, most: 10_000 }]);
    const rendering = { ...place, id, job, file };
    const found = await service.batches.findRendering(rendering);
    expect(found).toMatchObject({ state: JobState.RUNNING, done: 2, total: 5 });
    const done = {
      state: JobState.SUCCEEDED,
      fileKey: "renders/x.pdf",
      size: 16,
      message: "",
      warnings: ["a", "b"],
      leftOut: [],
    };
    service.peers.findRendering = async () => done;
    expect(await service.batches.findRendering(rendering)).toMatchObject({
      state: JobState.SUCCEEDED,
      fileKey: "renders/x.pdf",
      size: 16,
      warnings: 2,
    });
  });

  it("[O13.2] is found through its own batch alone, and not when it has expired", async () => {
    const [first, second] = [await service.make(), await service.make()];
    const { job, file } = await service.batches.renderBatch({ ...place, id: first.id });
    const gone = { code: "batch_rendering_not_found" };
    await expect(service.batches.findRendering({ ...place, id: second.id, job, file })).rejects.toMatchObject(gone);
    await expect(
      service.batches.findRendering({ ...place, id: first.id, job, file: randomUUID() }),
    ).rejects.toMatchObject(gone);
    service.peers.findRendering = () => Promise.reject(new Fault("not_found", "render_not_found", "gone"));
    await expect(service.batches.findRendering({ ...place, id: first.id, job, file })).rejects.toMatchObject(gone);
  });

  it.each([
    ["0.override_layout", "The layout of this batch was deleted."],
    ["3.orderposition", "Some tickets of this batch were canceled."],
  ])("[O13.3] says what keeps it from being done: %s", async (field, message) => {
    const { id } = await service.make();
    service.peers.startRendering = () =>
      Promise.reject(new Fault("invalid", "invalid_parts", "wrong", { fields: { [field]: ["no"] } }));
    await expect(service.batches.renderBatch({ ...place, id })).rejects.toMatchObject({
      code: "tickets_unprintable",
      message,
    });
  });

  it("forgets renderings days later", async () => {
    const { id } = await service.make();
    await service.batches.renderBatch({ ...place, id });
    await service.runJob("forget-renderings");
    expect(await service.db.many(sql`select from rendering`)).toHaveLength(1);
    await service.db.run(sql`update rendering set started_at = now() - interval '4 days'`);
    await service.runJob("forget-renderings");
    expect(await service.db.many(sql`select from rendering`)).toEqual([]);
  });
});

describe("canceling", () => {
  it("[O14.1] cancels the sale once, and the batch is not rendered any more", async () => {
    const { id, orders } = await service.make();
    const first = await service.batches.cancelBatch({ ...place, id, force: false });
    expect(first).toMatchObject({ batch: { id, orders, canceledAt: expect.any(Number) }, scannedOrders: [] });
    expect(await service.batches.cancelBatch({ ...place, id, force: false })).toEqual(first);
    expect(service.peers.canceled).toHaveLength(1);
    await expect(service.batches.renderBatch({ ...place, id })).rejects.toMatchObject({ code: "batch_canceled" });
  });

  it("[O14.1] waits for gates when it is repeated, too", async () => {
    const { id } = await service.make();
    await service.batches.cancelBatch({ ...place, id, force: false });
    service.peers.isCaughtUp = false;
    let hasAnswered = false;
    const repeated = service.batches.cancelBatch({ ...place, id, force: false }).then(() => {
      hasAnswered = true;
    });
    await sleep(300);
    expect(hasAnswered).toBe(false);
    service.peers.isCaughtUp = true;
    await repeated;
    expect(service.peers.canceled).toHaveLength(1);
  });

  it("[O14.2] names the orders whose tickets were scanned, and cancels nothing unless it is forced", async () => {
    const { id } = await service.make();
    service.peers.scanned = new Set([4, 2]);
    expect(await service.batches.cancelBatch({ ...place, id, force: false })).toEqual({
      batch: undefined,
      scannedOrders: ["CODE2", "CODE4"],
    });
    expect(service.peers.canceled).toEqual([]);
    expect(await service.batches.cancelBatch({ ...place, id, force: true })).toMatchObject({ scannedOrders: [] });
    expect(service.peers.canceled).toHaveLength(1);
  });
});

describe("a deleted event", () => {
  it("[O10.5] has no batches and no jobs any more, and an event that gets the name has its own alone", async () => {
    await service.prepareEvent(elsewhere);
    await service.make({ ...elsewhere, comment: "of another event" });
    const { id } = await service.make();
    const { job } = await service.batches.createBatch(wanted);
    await service.batches.renderBatch({ ...place, id });
    const deletedAt = await databaseTime(service.db);
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}`], { at: deletedAt });
    await service.prepareEvent();
    expect(await list()).toEqual([]);
    await expect(service.batches.getBatch({ ...place, id })).rejects.toMatchObject({ code: "batch_not_found" });
    await expect(service.batches.findCreation({ ...place, job })).rejects.toMatchObject({ code: "creation_not_found" });
    expect(await service.db.many(sql`select from rendering`)).toEqual([]);
    service.clock.at = deletedAt + 1;
    await service.make({ comment: "of the next one" });
    // A rebuild may tell of the deletion late.
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}`], { at: deletedAt });
    await service.prepareEvent();
    expect(await list()).toEqual(["of the next one"]);
    expect(await list(elsewhere)).toEqual(["of another event"]);
  });

  it("[O10.5] has no batch either that a job has stored before the deletion was heard of", async () => {
    const { job } = await service.batches.createBatch(wanted);
    const deletedAt = await databaseTime(service.db);
    await service.work();
    expect(await list()).toHaveLength(1);
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}`], { at: deletedAt });
    await service.prepareEvent();
    expect(await list()).toEqual([]);
    await expect(service.batches.findCreation({ ...place, job })).rejects.toMatchObject({ code: "creation_not_found" });
  });

  it("[O10.5] keeps no rendering that was started before it was deleted", async () => {
    const { id } = await service.make();
    const { startRendering } = service.peers;
    service.peers.startRendering = async () => {
      await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}`], {
        at: await databaseTime(service.db),
      });
      return startRendering();
    };
    await service.batches.renderBatch({ ...place, id });
    expect(await service.db.many(sql`select from rendering`)).toEqual([]);
  });

  it("[O10.5] that a rebuild has told late has its batches", async () => {
    const { id } = await service.make();
    await service.sweep(topics.eventChanged, 1000);
    await expect(service.batches.getBatch({ ...place, id })).rejects.toMatchObject({ kind: "not_found" });
    await service.prepareEvent();
    expect((await service.batches.getBatch({ ...place, id })).batch).toMatchObject({ id });
  });

  it("[O10.5] that a rebuild did not find has no batches any more, and they are deleted a day later", async () => {
    const { id } = await service.make();
    await service.sweep(topics.eventChanged, 1000);
    for (const ask of [
      () => service.batches.getBatch({ ...place, id }),
      () => service.batches.renderBatch({ ...place, id }),
      () => service.batches.cancelBatch({ ...place, id, force: true }),
      () => service.batches.createBatch(wanted),
      () => list(),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: "batch_event_not_found" });
    }
    await service.runJob("remove-gone-events");
    expect(await service.db.many(sql`select from batch`)).toHaveLength(1);
    await service.db.run(sql`update gone_event set gone_at = now() - interval '25 hours'`);
    await service.runJob("remove-gone-events");
    expect(await service.db.many(sql`select from batch`)).toEqual([]);
  });
});

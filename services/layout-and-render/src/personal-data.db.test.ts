import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import { enqueueWork } from "@tessera/kit/jobs/work";
import { workOn } from "@tessera/kit/jobs/work-on";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { databaseTime } from "@tessera/testkit/database-time";
import { erase, findErased } from "@tessera/testkit/erase";
import { beginPut, collect } from "@tessera/testkit/files-contract";
import { finishWork, startTestWorkers } from "@tessera/testkit/finish-work";
import { implementSome } from "@tessera/testkit/implement-some";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { drawKey, renderBatch, renderFew, renderId } from "./printing/render-work.ts";
import type { EventKey } from "./store/keys.ts";
import { place, type RunningLayout, startLayout } from "./testing/start-layout.ts";

let database: TestDatabase;
let directory: string;
let files: Files;
let service: RunningLayout;
/** The state of the erasure in boxoffice. */
let inBoxoffice: ErasureState;

const boxofficeData = implementSome(PersonalData, {
  findErasure: async () => ({ state: inBoxoffice, parts: [], left: [], kept: [] }),
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-renders-"));
  files = diskFiles({ directory });
  database = await createTestDatabase([{ schema: "layout", migrations: new URL("../migrations/", import.meta.url) }]);
  const started = await startLayout(database.open("layout"), { files, boxoffice: [boxofficeData] });
  // No worker renders here: a test decides the end of its jobs.
  const workers = started.workers.filter(({ work }) => work.kind !== renderFew.kind && work.kind !== renderBatch.kind);
  service = { ...started, workers };
});
afterAll(async () => {
  await service.close();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  inBoxoffice = ErasureState.DONE;
  await service.reset();
  await files.remove((await collect(files.list(""))).map(({ key }) => key));
  for (const event of [place.event, elsewhere.event]) await service.prepareEvent({ event });
});

const elsewhere: EventKey = { organizer: place.organizer, event: "afterparty" };

/** Starts a job. */
async function start(at: EventKey = place, { work = renderFew } = {}) {
  const wanted = { ...at, job: randomUUID(), file: randomUUID() };
  await service.db.transaction((tx) =>
    enqueueWork(tx, work, [
      { id: renderId(wanted), owner: at.organizer, payload: { ...at, file: wanted.file, parts: [] } },
    ]),
  );
  return { find: async () => (await service.rendering.findBatch(wanted)).state };
}
/** Renders the waiting jobs as soon as `may` resolves. */
const rendering = (may: Promise<void> = Promise.resolve()) =>
  [renderFew, renderBatch].map((work) =>
    workOn(work, async ({ id }) => {
      await may;
      const fileKey = drawKey(id);
      const { size } = await files.put(fileKey, Buffer.from("Ada"), { contentType: "application/pdf" });
      return async () => ({ fileKey, size, warnings: [], leftOut: [] });
    })({}),
  );
const render = () => finishWork(service.db, rendering());
const filesOf = async ({ organizer, event }: EventKey) =>
  (await collect(files.list(`renders/${organizer}/${event}/`))).length;
const gone = { code: "render_not_found" };
const kinds = ["cachedtickets"];

it("[D3.9] finished files of an event are deleted, their jobs are gone, and those of other events stay", async () => {
  const [one, large, there] = [await start(), await start(place, { work: renderBatch }), await start(elsewhere)];
  await render();
  expect(await one.find()).toBe(JobState.SUCCEEDED);
  // Left behind by a killed worker.
  await files.put(drawKey(renderId({ ...place, job: randomUUID(), file: randomUUID() })), Buffer.from("Ada"), {
    contentType: "application/pdf",
  });
  expect(await erase(service, place, { kinds: ["waiting_list"] })).toMatchObject({ parts: {}, left: {} });
  expect(await filesOf(place)).toBe(3);
  const waiting = await start();
  expect(await erase(service, place, { kinds: [...kinds, "order_emails"] })).toMatchObject({
    state: ErasureState.DONE,
    parts: { "cachedtickets renders/": 2, "order_emails renders/": 2 },
    left: {},
  });
  for (const job of [one, large, waiting]) await expect(job.find()).rejects.toMatchObject(gone);
  expect([await filesOf(place), await filesOf(elsewhere), await there.find()]).toEqual([0, 1, JobState.SUCCEEDED]);
  const later = await start();
  await render();
  expect([await later.find(), await filesOf(place)]).toEqual([JobState.SUCCEEDED, 1]);
});

it("[D3.9] what a killed worker wrote of a file is deleted, and what a job that goes on writes stays", async () => {
  const killed = await beginPut(files, drawKey(renderId({ ...place, job: randomUUID(), file: randomUUID() })));
  const there = await beginPut(files, drawKey(renderId({ ...elsewhere, job: randomUUID(), file: randomUUID() })));
  await erase(service, place, { kinds });
  expect((await collect(files.listUnfinished("renders/"))).map(({ key }) => key)).toEqual([there.key]);
  for (const { release } of [killed, there]) release();
  expect([await killed.ended, await there.ended]).toMatchObject([{ code: "files_unavailable" }, { size: 8 }]);
});

it("[D3.10] a job that is rendering is waited for, and its file goes", async () => {
  const may = Promise.withResolvers<void>();
  const job = await start();
  const workers = startTestWorkers(service.db, rendering(may.promise));
  try {
    await expect.poll(() => job.find()).toBe(JobState.RUNNING);
    const erasing = erase(service, place, { kinds });
    await expect.poll(() => service.db.many(sql`select from erasure`)).toHaveLength(1);
    may.resolve();
    expect(await erasing).toMatchObject({ state: ErasureState.DONE, parts: { "cachedtickets renders/": 1 } });
  } finally {
    await workers.stop();
  }
  await expect(job.find()).rejects.toMatchObject(gone);
  expect(await filesOf(place)).toBe(0);
});

it("[D3.10] what is rendered while boxoffice has still to erase leaves no file", async () => {
  inBoxoffice = ErasureState.RUNNING;
  const request = { ...place, case: randomUUID() };
  await service.deliver(topics.shredRequested, [
    { ...request, kinds: ["attendee_info"], again: true, fromLedger: true },
  ]);
  const erasing = finishWork(service.db, service.workers);
  await expect.poll(() => service.db.many(sql`select from work where state = 'running'`)).toHaveLength(1);
  const job = await start();
  const workers = startTestWorkers(service.db, rendering());
  await expect.poll(() => job.find()).toBe(JobState.SUCCEEDED);
  await workers.stop();
  expect((await findErased(service, request)).state).toBe(ErasureState.RUNNING);
  inBoxoffice = ErasureState.DONE;
  await erasing;
  expect(await findErased(service, request)).toMatchObject({
    state: ErasureState.DONE,
    parts: { "attendee_info renders/": 1 },
  });
  expect(await filesOf(place)).toBe(0);
});

it("[D3.10] an event that boxoffice has deleted is not waited for", async () => {
  inBoxoffice = ErasureState.UNKNOWN;
  await start();
  await render();
  const request = { ...place, case: randomUUID() };
  await service.deliver(topics.shredRequested, [
    { ...request, kinds: ["attendee_info"], again: true, fromLedger: true },
  ]);
  await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], {
    at: await databaseTime(service.db),
  });
  await finishWork(service.db, service.workers);
  // The files expire with their jobs.
  expect(await service.db.many(sql`select state from work where kind = 'erase personal data'`)).toEqual([
    { state: "failed" },
  ]);
});

it("[D3.2] files that a crash has left behind expired jobs are removed by the next try", async () => {
  const job = await start();
  await render();
  const refusing = await startLayout(service.db, {
    files: { ...files, remove: () => Promise.reject(new Error("the process was killed")) },
    boxoffice: [boxofficeData],
  });
  const request = { ...place, case: randomUUID() };
  await service.deliver(topics.shredRequested, [{ ...request, kinds, again: true, fromLedger: true }]);
  await finishWork(service.db, refusing.workers);
  await refusing.close();
  expect(await findErased(service, request)).toMatchObject({ state: ErasureState.RUNNING });
  expect(await filesOf(place)).toBe(1);
  await service.db.run(sql`update work set due_at = now() where state = 'waiting'`);
  await finishWork(service.db, service.workers);
  expect(await findErased(service, request)).toMatchObject({
    state: ErasureState.DONE,
    parts: { "cachedtickets renders/": 1 },
  });
  expect(await filesOf(place)).toBe(0);
  await expect(job.find()).rejects.toMatchObject(gone);
});

it("[D3.3] the version of an event changes with its layouts, and not with what is rendered", async () => {
  const version = async () => (await service.connect(PersonalData).describeEvent(place)).version;
  const seen = [await version()];
  const { id } = await service.create({ name: "Ticket" });
  seen.push(await version());
  await service.update(id, { elements: '[{"type":"text"}]' });
  seen.push(await version());
  await start();
  await render();
  await service.create({ name: "Other" }, elsewhere);
  expect([new Set(seen).size, await version()]).toEqual([3, seen[2]]);
});

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { diskFiles } from "@tessera/engines/disk";
import { systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { removeNotedFiles } from "@tessera/kit/jobs/files-to-remove";
import { enqueueWork } from "@tessera/kit/jobs/work";
import { createLog } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { BatchState, type Part } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { collect, getFile } from "@tessera/testkit/files-contract";
import { finishWork, passTime, startTestWorkers } from "@tessera/testkit/finish-work";
import { readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Formats } from "../domain/formats/formats.ts";
import { findBatch } from "../handlers/find-batch.ts";
import { drawKey, renderId, rendersOf, workFor } from "../render-work.ts";
import { openTestRenderer, type TestRenderer } from "../testing/renderer.ts";
import { place, type RunningLayout, startLayout } from "../testing/start-layout.ts";
import { allTickets, noScans, ticketAnswer } from "../testing/ticket-answer.ts";
import { removeRenders } from "./remove-renders.ts";
import { type JobTools, renderBatches, renderFews } from "./render-batches.ts";

let database: TestDatabase;
let db: Db;
let service: RunningLayout;
let renderer: TestRenderer;
let directory: string;
let files: Files;
let lines: string[];

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "layout", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("layout");
  service = await startLayout(db);
  renderer = openTestRenderer();
});
afterAll(async () => {
  await renderer.close();
  await database.drop();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-renders-"));
  files = diskFiles({ directory });
  lines = [];
  await service.reset();
  await service.prepareEvent();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function tools(changed: Partial<JobTools> = {}): JobTools {
  return {
    reads: shareReads(db),
    files,
    clock: systemClock,
    ticketData: allTickets,
    firstEntries: noScans,
    answerFiles: {
      getAnswerFile: () => Promise.reject(new Fault("not_found", "answer_not_found", "none")),
      getAnswerFiles: async ({ answers }) => ({ files: answers.map(() => ({ file: undefined })) }),
    },
    renderer: renderer.tools,
    formats: new Formats(),
    issuer: "https://tickets.example",
    log: createLog({ service: "test", level: "debug", destination: { write: (line) => lines.push(line) } }),
    ...changed,
  };
}
const workers = (with_: JobTools) => [renderBatches(with_), renderFews(with_)];
const finish = (changed: Partial<JobTools> = {}) => finishWork(db, workers(tools(changed)));
const part = (position: number, more: Partial<Part> = {}): Part => ({
  position,
  overrideChannel: undefined,
  overrideLayout: undefined,
  ...more,
});

async function start(parts: readonly Part[], organizer: string = place.organizer) {
  const wanted = { organizer, event: place.event, job: randomUUID(), file: randomUUID() };
  const { file, event } = wanted;
  await db.transaction((tx) =>
    enqueueWork(tx, workFor(parts.length), [
      { id: renderId(wanted), owner: organizer, payload: { organizer, event, file, parts } },
    ]),
  );
  return { ...wanted, find: () => findBatch(wanted, { db }) };
}
const stored = async () => (await collect(files.list("renders/"))).map(({ key }) => key);
const readStored = async (key: string) => readPdf(await buffer((await getFile(files, key)).content));
/** A store that a job reaches when its lease has ended meanwhile, and what it needs was erased. */
const reachedLate = (id: string): Files => ({
  ...files,
  async put(...given) {
    await db.run(
      sql`update work set state = 'expired', payload = null, due_at = now() + interval '1 hour' where id = ${id}`,
    );
    return files.put(...given);
  },
});

describe("a process that was frozen", () => {
  it("[D3.10] leaves no file of a job that was erased meanwhile", async () => {
    const job = await start([part(1)]);
    await finish({ files: reachedLate(renderId(job)) });
    await expect(job.find()).rejects.toMatchObject({ code: "render_not_found" });
    expect(await stored()).toEqual([]);
  });
});

const away = () => new Fault("unavailable", "files_unavailable", "The store is away.");

describe("what passes by itself", () => {
  it("[L50.1] is waited for, and the job ends well, once", async () => {
    let failures = 3;
    const flaky: Files = {
      ...files,
      put: (...given) => (failures-- > 0 ? Promise.reject(away()) : files.put(...given)),
    };
    const job = await start([part(1), part(2)]);
    await finish({ files: flaky });
    const found = await job.find();
    expect(found).toMatchObject({ state: BatchState.SUCCEEDED, message: "" });
    expect(await stored()).toEqual([found.fileKey]);
    expect(found.fileKey.startsWith(rendersOf(place))).toBe(true);
  });

  it("[L50.6] such as a full disk is waited for, and no part of a file is left on it", async () => {
    const limit = (bytes: string) =>
      execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
    const many = Array.from({ length: 20 }, (_, index) => part(index + 1));
    const left = async () => (await readdir(directory, { recursive: true })).filter((name) => name.includes("."));
    // No file of this process may become so large as the one that is rendered.
    limit(String(32 * 1024));
    try {
      const hopeless = await start(many);
      await finish({ patienceMs: 300 });
      expect(await hopeless.find()).toMatchObject({
        state: BatchState.FAILED,
        message: "the folder for files is full; make room on its disk",
      });
      expect(await left()).toEqual([]);
      const job = await start(many);
      const finished = finish();
      await vi.waitUntil(() => lines.filter((line) => line.includes("is full")).length > 1, { timeout: 15_000 });
      limit("unlimited");
      await finished;
      expect((await readStored((await job.find()).fileKey)).pages).toHaveLength(20);
    } finally {
      limit("unlimited");
    }
    expect(await stored()).toHaveLength(1);
  });

  it("[L50.2] ends the job with its sentence when it lasts too long", async () => {
    const job = await start([part(1)]);
    await finish({ patienceMs: 300, ticketData: { readTicketData: () => Promise.reject(away()) } });
    expect(await job.find()).toMatchObject({ state: BatchState.FAILED, message: "The store is away." });
  });

  it("[L50.5] such as a browser that does not start is waited for, but not for ever", async () => {
    const [flaky, never] = [2, Number.POSITIVE_INFINITY].map((missing) => openTestRenderer({ missing }));
    const job = await start([part(1)]);
    await finish({ renderer: flaky?.tools ?? renderer.tools });
    expect(await job.find()).toMatchObject({ state: BatchState.SUCCEEDED, message: "" });
    const late = await start([part(1)]);
    await finish({ renderer: never?.tools ?? renderer.tools, patienceMs: 300 });
    const message = "Tickets cannot be printed now: no browser starts. Try again later.";
    expect(await late.find()).toMatchObject({ state: BatchState.FAILED, message });
    await flaky?.close();
  });

  it("[L50.3] such as a browser that is killed loses no ticket and prints none twice", async () => {
    await renderer.tools.printer.warmUp();
    const job = await start(Array.from({ length: 300 }, (_, index) => part(index + 1)));
    const killing = setTimeout(() => void renderer.browsers.at(-1)?.kill(), 60);
    await finish();
    clearTimeout(killing);
    expect((await readStored((await job.find()).fileKey)).pages).toHaveLength(300);
  });
});

describe("scans", () => {
  const elements = (content: string) =>
    JSON.stringify([
      {
        ...{ type: "textarea", left: 10, bottom: 100, width: 100, fontsize: 12, content, fontfamily: "Open Sans" },
        ...{ color: [0, 0, 0], bold: false, italic: false, align: "left", downward: false, rotation: 0 },
      },
    ]);
  /** Check-in, where the first of every two tickets entered on the day of its number. */
  const asking = (asked: (readonly number[])[]): JobTools["firstEntries"] => ({
    findFirstEntries: async ({ positions }) => {
      asked.push(positions);
      const odd = positions.filter((id) => id % 2 === 1);
      return { scanned: odd.map((id) => ({ position: id, firstEntryAt: Date.UTC(2025, 11, id) * 1000 })) };
    },
  });
  const textsIn = async (key: string) =>
    (await readStored(key)).pages.map(({ texts }) => texts.map(({ text }) => text).join());

  it("[L14.7] are asked for once for a hundred tickets, and of those alone whose layout prints them", async () => {
    const { id: scanned } = await service.create({ elements: elements("first_scan") });
    const { id: other } = await service.create({ elements: elements("order") });
    const asked: (readonly number[])[] = [];
    const parts = Array.from({ length: 230 }, (_, index) =>
      part(index + 1, { overrideLayout: index < 100 || index % 10 > 0 ? other : scanned }),
    );
    const job = await start([...parts, part(3, { overrideLayout: scanned })]);
    await finish({ firstEntries: asking(asked) });
    const found = await job.find();
    expect(found).toMatchObject({ state: BatchState.SUCCEEDED, warnings: [] });
    expect(asked).toEqual([
      [101, 111, 121, 131, 141, 151, 161, 171, 181, 191],
      [201, 211, 221, 3],
    ]);
    const texts = await textsIn(found.fileKey);
    expect([texts[0], texts[99], texts[200], texts[230]]).toEqual([
      "ABCDE",
      "ABCDE",
      "2026-06-19 00:00",
      "2025-12-03 00:00",
    ]);
  });

  it("[L50.7] that cannot be had leave their texts empty, with a warning, and the ticket is printed", async () => {
    const { id } = await service.create({ elements: elements("first_scan") });
    const { id: other } = await service.create({ elements: elements("order") });
    const job = await start([part(1, { overrideLayout: id }), part(2, { overrideLayout: other })]);
    let asked = 0;
    await finish({
      firstEntries: {
        findFirstEntries: () => {
          asked += 1;
          return Promise.reject(new Fault("unavailable", "peer_unavailable", "checkin is away"));
        },
      },
    });
    const found = await job.find();
    expect(found).toMatchObject({
      state: BatchState.SUCCEEDED,
      warnings: ["Part 1: Element 1 (textarea first_scan): first_scan is empty: check-in does not answer"],
    });
    expect(asked).toBe(1);
    expect(await textsIn(found.fileKey)).toEqual(["", "ABCDE"]);
  });
});

describe("a part that cannot be printed", () => {
  it("[L51.1] is named: a ticket, a layout or a background that is gone", async () => {
    const gone = await start([part(1), part(2)]);
    await finish({
      ticketData: { readTicketData: async (request) => ticketAnswer(request, { exists: (id) => id === 1 }) },
    });
    expect(await gone.find()).toMatchObject({ message: "Part 2: the ticket 2 does not exist any more." });
    const noLayout = await start([part(1), part(2, { overrideLayout: 77 })]);
    await finish();
    expect(await noLayout.find()).toMatchObject({ message: "Part 2: the layout 77 does not exist any more." });
    const { id } = await service.create();
    await db.run(sql`
      update layout set background = ${"ab".repeat(20)}, background_size = 1, background_sha256 = 'x' where id = ${id}`);
    const noFile = await start([part(1), part(2, { overrideLayout: id })]);
    await finish();
    expect((await noFile.find()).message).toBe("Part 2: The background of the layout is lost: set it again.");
    await files.put(`backgrounds/${"ab".repeat(20)}.pdf`, Buffer.from("%PDF-1.4 x"), {
      contentType: "application/pdf",
    });
    const broken = await start([part(1), part(2, { overrideLayout: id })]);
    await finish();
    expect((await broken.find()).message).toBe("Part 2: The background of the layout cannot be read: set another PDF.");
    expect(await stored()).toEqual([]);
  });

  it("[L51.2] is named when it takes too long", async () => {
    const slow = openTestRenderer({ printMs: 1 });
    const job = await start([part(1)]);
    await finish({ renderer: slow.tools });
    await slow.close();
    expect((await job.find()).message).toMatch(/^Part 1: A page took too long/);
  });
});

describe("rendered files", () => {
  it("[L52.1] of a worker that lost its lease are put beside, and go", async () => {
    const job = await start([part(1)]);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let puts = 0;
    const slowAtFirst: Files = {
      ...files,
      async put(...given) {
        const put = await files.put(...given);
        puts += 1;
        if (puts === 1) await released;
        return put;
      },
    };
    const running = startTestWorkers(db, workers(tools({ files: slowAtFirst })));
    await vi.waitUntil(async () => (await stored()).length === 1, { timeout: 10_000 });
    await vi.waitUntil(
      async () => {
        await passTime(db);
        return (await job.find()).state === BatchState.SUCCEEDED;
      },
      { timeout: 10_000, interval: 500 },
    );
    release();
    await running.stop();
    const { fileKey } = await job.find();
    expect([puts, await stored()]).toEqual([2, [fileKey]]);
    // A worker that was killed has left it.
    await files.put(drawKey(renderId(job)), Buffer.from("lost"), { contentType: "application/pdf" });
    const later = { now: () => systemClock.now() + 2 * 3_600_000_000 };
    await removeRenders({ db, files, clock: later }).run(new AbortController().signal);
    expect(await stored()).toEqual([fileKey]);
    // A day later.
    await db.run(sql`update work set due_at = now() - interval '1 second'`);
    await removeRenders({ db, files, clock: later }).run(new AbortController().signal);
    expect(await stored()).toEqual([]);
  });

  it("[L52.2] go with their event", async () => {
    const service_ = await startLayout(db, { files });
    await start([part(1)]);
    await start([part(1)], "other");
    await finish();
    expect(await stored()).toHaveLength(2);
    await service_.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], { deletedAt: 9 });
    await db.run(sql`update gone_event set gone_at = now() - interval '25 hours'`);
    await service_.runJob("remove-gone-events");
    expect((await stored()).map((key) => key.split("/")[1])).toEqual(["other"]);
  });
});

describe("rendered files of a deleted event", () => {
  const deleteEvent = async (at: number) => {
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], { at });
    await service.prepareEvent();
  };
  const { signal } = new AbortController();
  const missing = { code: "render_not_found" };

  it("[L52.2] do not exist for an event that gets its name, which has its own, and go", async () => {
    const made = await start([part(1)]);
    const other = await start([part(1)], "other");
    await finish();
    const waiting = await start([part(2)]);
    const deletedAt = systemClock.now();
    await deleteEvent(deletedAt);
    await expect(made.find()).rejects.toMatchObject(missing);
    await expect(waiting.find()).rejects.toMatchObject(missing);
    const own = await start([part(3)]);
    // A rebuild may tell of the deletion late.
    await deleteEvent(deletedAt);
    await finish();
    expect([(await own.find()).state, (await other.find()).state]).toEqual([
      BatchState.SUCCEEDED,
      BatchState.SUCCEEDED,
    ]);
    expect(await stored()).toHaveLength(3);
    const killed = { ...files, remove: () => Promise.reject(new Error("the process was killed")) };
    await expect(removeNotedFiles({ db, files: killed }).run(signal)).rejects.toThrow("killed");
    await removeNotedFiles({ db, files }).run(signal);
    expect(await db.many(sql`select from file_to_remove`)).toEqual([]);
    expect(await stored()).toEqual([(await own.find()).fileKey, (await other.find()).fileKey].sort());
  });

  it("[L52.2] are not kept of one that was at work", async () => {
    const job = await start([part(1)]);
    let isDeleted = false;
    const slow: Files = {
      ...files,
      async put(...given) {
        if (!isDeleted) await deleteEvent(systemClock.now());
        isDeleted = true;
        return files.put(...given);
      },
    };
    await finish({ files: slow });
    await expect(job.find()).rejects.toMatchObject(missing);
    expect([isDeleted, await stored()]).toEqual([true, []]);
  });
});

it("[L52.2] rendered files of an event that a rebuild has told late are still there", async () => {
  const made = await start([part(1)]);
  await finish();
  await service.sweep(topics.eventChanged, 1000);
  await service.prepareEvent();
  expect((await made.find()).state).toBe(BatchState.SUCCEEDED);
  expect(await db.many(sql`select from file_to_remove`)).toEqual([]);
});

describe("taking turns", () => {
  it("[L53.1] a single ticket waits for no thousand files of another organizer, nor of its own", async () => {
    const many = Array.from({ length: 200 }, (_, index) => part(index + 1));
    for (let job = 0; job < 1000; job += 1) await start(job < 40 ? many : [part(job)], "large");
    for (let job = 0; job < 20; job += 1) await start(many);
    let asked = 0;
    const readTicketData: typeof allTickets.readTicketData = (request) => {
      asked += request.positions.length;
      return allTickets.readTicketData(request);
    };
    const running = startTestWorkers(db, workers(tools({ ticketData: { readTicketData } })));
    try {
      await vi.waitUntil(async () => (await stored()).length > 0, { timeout: 20_000 });
      for (const organizer of [place.organizer, "third"]) {
        const before = asked;
        const job = await start([part(1)], organizer);
        await vi.waitUntil(async () => (await job.find()).state === BatchState.SUCCEEDED, {
          timeout: 20_000,
          interval: 20,
        });
        // Of 13,000 that wait: those whose turn it was meanwhile.
        expect(asked - before).toBeLessThan(2000);
      }
    } finally {
      await running.stop();
    }
  }, 60_000);

  it("[L53.2] a job waits for no backgrounds of another organizer that cannot be had", async () => {
    await service.prepareEvent({ organizer: "slow" });
    const { id } = await service.create({}, { ...place, organizer: "slow" });
    const name = "cd".repeat(20);
    await db.run(sql`
      update layout set background = ${name}, background_size = 1, background_sha256 = 'x' where id = ${id}`);
    const held = Promise.withResolvers<undefined>();
    const holding: Files = {
      ...files,
      get: (...given) => (given[0].includes(name) ? held.promise : files.get(...given)),
    };
    const ofOne = (count: number) => Array.from({ length: count }, () => part(1, { overrideLayout: id }));
    for (const count of [1, 1, 1, 1, 1, 20, 20, 20]) await start(ofOne(count), "slow");
    const running = startTestWorkers(db, workers(tools({ files: holding })));
    try {
      await vi.waitUntil(async () => (await db.many(sql`select from work where work.state = 'running'`)).length >= 5);
      const others = [await start([part(1)]), await start(Array.from({ length: 20 }, () => part(1)))];
      for (const other of others)
        await expect.poll(async () => (await other.find()).state, { timeout: 5000 }).toBe(BatchState.SUCCEEDED);
    } finally {
      held.resolve(undefined);
      await running.stop();
    }
  });
});

describe("a hostile layout with hostile data", () => {
  it("[L54.1] reaches no address, no name and no file, and leaves nothing personal in logs and folders", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const decoy = join(directory, "decoy.txt");
    await writeFile(decoy, "DECOYCONTENT");
    const attacks = [
      `<script>fetch("http://127.0.0.1:${port}/")</script>`,
      `</style></section><style>@import url(http://127.0.0.1:${port}/a.css)</style>`,
      `"><img src=http://127.0.0.1:${port}/x onerror=alert(1)>`,
      `<iframe src="file://${decoy}"></iframe>&lt;object data="file://${decoy}">`,
      `<link rel=dns-prefetch href=//tessera-decoy.example><img src=//localhost:${port}/y>`,
      `&#60;svg onload=import("http://127.0.0.1:${port}/z")&#62;`,
    ];
    const elements = attacks.flatMap((attack, index) => [
      {
        type: "textarea",
        left: "10",
        bottom: String(10 + index * 20),
        width: "180",
        fontsize: "8",
        content: "other",
        text: attack,
        locale: attack.replaceAll(/[^a-z-]/gi, ""),
        color: [0, 0, 0, 1],
        fontfamily: attack,
        bold: false,
        italic: false,
        align: "left",
        downward: false,
        rotation: 0,
      },
      {
        type: "textarea",
        left: "10",
        bottom: String(15 + index * 20),
        width: "180",
        fontsize: "8",
        content: "attendee_name",
        fontfamily: "Open Sans",
        color: [0, 0, 0, 1],
        bold: false,
        italic: false,
        align: "left",
        downward: false,
        rotation: 0,
      },
    ]);
    const { id } = await service.create({ elements: JSON.stringify(elements) });
    const attendeeName = `MARKERPERSON ${attacks.join(" ")}`;
    const job = await start([part(1, { overrideLayout: id })]);
    await finish({ ticketData: { readTicketData: async (request) => ticketAnswer(request, { attendeeName }) } });
    server.close();
    expect(await job.find()).toMatchObject({ state: BatchState.SUCCEEDED, message: "" });
    const { pages } = await readStored((await job.find()).fileKey);
    const printed = JSON.stringify(pages);
    expect(printed).toContain("MARKERPERSON");
    expect(printed).not.toContain("DECOYCONTENT");
    expect(connections).toBe(0);
    expect(lines.join("")).not.toContain("MARKERPERSON");
    const profiles = (await readdir(tmpdir())).filter((name) => name.startsWith(`tessera-browser-${process.pid}-`));
    expect(profiles.length).toBeGreaterThan(0);
    for (const profile of profiles) expect(await findText(join(tmpdir(), profile), "MARKERPERSON")).toEqual([]);
  });
});

/** The files in a folder that contain a text, in either of two encodings. */
async function findText(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path).catch(() => Buffer.alloc(0));
    if (content.includes(text) || content.includes(Buffer.from(text, "utf16le"))) found.push(path);
  }
  return found;
}

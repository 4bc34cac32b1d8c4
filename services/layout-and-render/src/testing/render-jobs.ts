import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import { enqueueWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import { createLog } from "@tessera/kit/telemetry/log";
import type { Part } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { collect, getFile } from "@tessera/testkit/files-contract";
import { finishWork } from "@tessera/testkit/finish-work";
import { readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { findBatch } from "../handlers/find-batch.ts";
import { type JobTools, renderBatches, renderFews } from "../jobs/render-batches.ts";
import { type RenderOrder, renderId, workFor } from "../printing/render-work.ts";
import { printTools } from "./print-tools.ts";
import { openTestRenderer, type TestRenderer } from "./renderer.ts";
import { place, type RunningLayout, startLayout } from "./start-layout.ts";

/** Starts the service with a browser for a test file. Each test begins with an event and an empty folder of files. */
export function renderJobs() {
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

  function workers(changed: Partial<JobTools> = {}) {
    const tools: JobTools = {
      ...printTools({ db, files, renderer }),
      log: createLog({ service: "test", level: "debug", destination: { write: (line) => lines.push(line) } }),
      ...changed,
    };
    return [renderBatches(tools), renderFews(tools)];
  }

  return {
    get db() {
      return db;
    },
    get service() {
      return service;
    },
    get renderer() {
      return renderer;
    },
    get directory() {
      return directory;
    },
    get files() {
      return files;
    },
    get lines() {
      return lines;
    },
    workers,
    finish: (changed: Partial<JobTools> = {}) => finishWork(db, workers(changed)),
    async start(
      parts: readonly Part[],
      organizer: string = place.organizer,
      { skipsFailed = false }: Pick<RenderOrder, "skipsFailed"> = {},
    ) {
      const wanted = { organizer, event: place.event, job: randomUUID(), file: randomUUID() };
      const { file, event } = wanted;
      await db.transaction((tx) =>
        enqueueWork(tx, workFor(parts.length), [
          { id: renderId(wanted), owner: organizer, payload: { organizer, event, file, parts, skipsFailed } },
        ]),
      );
      return { ...wanted, find: () => findBatch(wanted, { db }) };
    },
    stored: async () => (await collect(files.list("renders/"))).map(({ key }) => key),
    readStored: async (key: string) => readPdf(await buffer((await getFile(files, key)).content)),
  };
}

export const part = (position: number, more: Partial<Part> = {}): Part => ({
  position,
  overrideChannel: undefined,
  overrideLayout: undefined,
  ...more,
});

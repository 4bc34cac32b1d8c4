import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { diskFiles } from "@tessera/engines/files/disk";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { FindBatchResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const [job, file] = ["0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1", "1c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f2"];
const start = `${inEvent}/ticketpdfrenderer/render_batch/`;
const download = `${inEvent}/ticketpdfrenderer/download/${job}/${file}/`;
const ticket = `${inEvent}/orderpositions/42/download/pdf/`;
const found: FindBatchResponse = {
  ...{ state: JobState.WAITING, message: "", fileKey: "", size: 0, warnings: [], leftOut: [] },
};

let directory: string;
let files: Files;
let app: ServedApp;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-renders-"));
  files = diskFiles({ directory });
  app = await serveApp({ files });
  app.peers.when("rendering", "startBatch", async () => ({ job, file }));
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

describe("POST render_batch/", () => {
  it("[L40.1] starts a job, and says where its file will be", async () => {
    const parts = [{ orderposition: 42, override_channel: "web", override_layout: 7 }, { orderposition: 43 }];
    const { status, json } = await app.send("POST", start, { key: keys.reader, body: { parts } });
    expect([status, json]).toEqual([202, { download: `${publicBase}${download}` }]);
    expect(app.peers.requestsOf("startBatch")).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        parts: [
          { position: 42, overrideChannel: "web", overrideLayout: 7 },
          { position: 43, overrideChannel: undefined, overrideLayout: undefined },
        ],
        skipsFailed: false,
      },
    ]);
  });

  it("[L51.3] skips parts that cannot be printed where `on_error` says so", async () => {
    const body = { parts: [{ orderposition: 42 }], on_error: "skip" };
    expect((await app.send("POST", start, { body })).status).toBe(202);
    expect(app.peers.requestsOf("startBatch")).toMatchObject([{ skipsFailed: true }]);
    const wrong = await app.send("POST", start, { body: { ...body, on_error: "ask" } });
    expect([wrong.status, wrong.json]).toEqual([400, { on_error: [expect.any(String)] }]);
  });

  it.each<[string, unknown, unknown]>([
    ["no parts", {}, { parts: [expect.any(String)] }],
    ["an empty list", { parts: [] }, { parts: [expect.any(String)] }],
    ["no list", { parts: "all" }, { parts: [expect.any(String)] }],
    [
      "wrong types",
      { parts: [{ orderposition: 1 }, { orderposition: "x", override_layout: true }, 7, { orderposition: 2 }] },
      {
        parts: [
          {},
          { orderposition: [expect.any(String)], override_layout: [expect.any(String)] },
          { non_field_errors: [expect.any(String)] },
          {},
        ],
      },
    ],
  ])("[L41.1] refuses %s", async (_name, body, expected) => {
    const { status, json } = await app.send("POST", start, { body });
    expect([status, json]).toEqual([400, expected]);
    expect(app.peers.requestsOf("startBatch")).toEqual([]);
  });

  it("[L41.2] tells what the service says of parts in a list, aligned with the request", async () => {
    const fields = { "1.orderposition": ["none"], "1.override_layout": ["no"] };
    app.peers.when("rendering", "startBatch", () =>
      Promise.reject(new Fault("invalid", "invalid_parts", "wrong", { fields })),
    );
    const { status, json } = await app.send("POST", start, {
      body: { parts: [{ orderposition: 1 }, { orderposition: 2 }, { orderposition: 3 }] },
    });
    expect([status, json]).toEqual([400, { parts: [{}, { orderposition: ["none"], override_layout: ["no"] }, {}] }]);
  });
});

describe("GET download/", () => {
  const answer = (state: Partial<FindBatchResponse>) =>
    app.peers.when("rendering", "findBatch", async () => ({ ...found, ...state }));

  it("[L42.1] says how far the job is, and when to ask again", async () => {
    answer({});
    expect(await app.send("GET", download)).toMatchObject({
      status: 409,
      headers: { "retry-after": "1" },
      json: { status: "waiting" },
    });
    app.peers.when("rendering", "findBatch", async () => ({ ...found, state: JobState.RUNNING, done: 2, total: 3 }));
    expect(await app.send("GET", download)).toMatchObject({ status: 409, json: { status: "running", percentage: 66 } });
    answer({ state: JobState.FAILED, message: "part 3: broken" });
    expect(await app.send("GET", download)).toMatchObject({
      status: 410,
      json: { status: "failed", message: "part 3: broken" },
    });
  });

  it("[L51.3] names the parts that the file lacks", async () => {
    await files.put("renders/x.pdf", Buffer.from("%PDF-1.7 tickets"), { contentType: "application/pdf" });
    answer({ state: JobState.SUCCEEDED, fileKey: "renders/x.pdf", size: 16, warnings: ["a", "b"], leftOut: [3, 17] });
    expect(await app.send("GET", download)).toMatchObject({
      status: 200,
      headers: { "x-tessera-warnings": "2", "x-tessera-left-out": "3, 17" },
    });
    // A proxy answers 502 if the headers take more than four kilobytes.
    const leftOut = Array.from({ length: 1000 }, (_, index) => index + 1).filter((number) => number % 500 > 0);
    answer({ state: JobState.SUCCEEDED, fileKey: "renders/x.pdf", size: 16, leftOut });
    expect((await app.send("GET", download)).headers["x-tessera-left-out"]).toBe("1-499, 501-999");
  });

  it("[L42.2, L42.4] answers the file with the number of its warnings, and 404 once it is gone", async () => {
    await files.put("renders/x.pdf", Buffer.from("%PDF-1.7 tickets"), { contentType: "application/pdf" });
    answer({ state: JobState.SUCCEEDED, fileKey: "renders/x.pdf", size: 16, warnings: ["a", "b"] });
    expect(await app.send("GET", download)).toMatchObject({
      status: 200,
      headers: {
        "x-tessera-warnings": "2",
        "content-type": "application/pdf",
        "content-disposition": "attachment; filename=tickets.pdf",
        "content-length": "16",
      },
      text: "%PDF-1.7 tickets",
    });
    await files.remove(["renders/x.pdf"]);
    expect((await app.send("GET", download)).status).toBe(404);
  });

  it("[L42.2] sends a file to its end although it is deleted meanwhile, and closes it when the client leaves", async () => {
    const content = Buffer.alloc(30 * 1024 * 1024, "x");
    const opened: Readable[] = [];
    await files.put("renders/large.pdf", content, { contentType: "application/pdf" });
    answer({ state: JobState.SUCCEEDED, fileKey: "renders/large.pdf", size: content.length });
    const { get } = files;
    files.get = async (...wanted) => {
      const found = await get.apply(files, wanted);
      if (found !== undefined) opened.push(found.content);
      return found;
    };
    const headers = { Authorization: `Token ${keys.reader}` };
    const ask = () => fetch(`http://127.0.0.1:${app.port}${download}`, { headers });
    const leaving = await ask();
    await leaving.body?.cancel();
    const staying = await ask();
    await files.remove(["renders/large.pdf"]);
    expect((await staying.arrayBuffer()).byteLength).toBe(content.length);
    await expect.poll(() => opened.length === 2 && opened.every(({ closed }) => closed)).toBe(true);
  });

  it("[L42.3] has nothing under ids that are none", async () => {
    expect((await app.send("GET", `${inEvent}/ticketpdfrenderer/download/x/${file}/`)).status).toBe(404);
    expect(app.peers.requestsOf("findBatch")).toEqual([]);
  });
});

it("[L43.1, L43.3] a ticket is downloaded under the code of its order, with the number of its warnings", async () => {
  app.peers.when("rendering", "renderTicket", async () => ({
    pdf: Buffer.from("%PDF"),
    order: "ABC12",
    positionid: 2,
    warnings: 4,
  }));
  expect(await app.send("GET", ticket)).toMatchObject({
    status: 200,
    headers: {
      "content-type": "application/pdf",
      "content-disposition": "attachment; filename=ABC12-2.pdf",
      "x-tessera-warnings": "4",
    },
    text: "%PDF",
  });
});

it("[L44.1] tickets are rendered for those who may read orders alone", async () => {
  app.peers.when("rendering", "renderTicket", async () => ({
    pdf: Buffer.from("%PDF"),
    order: "A",
    positionid: 1,
    warnings: 0,
  }));
  for (const key of [keys.none, keys.gate, keys.otherEvent, keys.otherOrganizer, devices.kiosk]) {
    expect((await app.send("POST", start, { key, body: { parts: [{ orderposition: 1 }] } })).status).toBe(403);
    expect((await app.send("GET", download, { key })).status).toBe(403);
    expect((await app.send("GET", ticket, { key })).status).toBe(403);
  }
  expect((await app.send("GET", ticket, { key: devices.full })).status).toBe(200);
});

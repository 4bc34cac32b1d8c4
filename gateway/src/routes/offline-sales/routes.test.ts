import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type {
  FindCreationResponse,
  FindRenderingResponse,
  OfflineBatch,
} from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const [job, file] = ["0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1", "1c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f2"];
const all = `${inEvent}/offlinesalesbatches/`;
const check = `${all}check/${job}/`;
const download = `${all}7/download/${job}/${file}/`;

const batch: OfflineBatch = {
  id: 7,
  createdAt: 1_751_992_052_134_368,
  testmode: false,
  salesChannel: "web",
  layout: 3,
  item: 11,
  amount: 2,
  comment: "for the harbour office",
  orders: ["ABC12", "DEF34"],
};
const listed = {
  id: 7,
  creation: "2025-07-08T16:27:32.134368Z",
  canceled: null,
  testmode: false,
  sales_channel: "web",
  layout: 3,
  subevent: null,
  item: 11,
  variation: null,
  amount: 2,
  comment: "for the harbour office",
};
const shown = { ...listed, orders: batch.orders };
const body = { layout: 3, item: 11, sales_channel: "web", amount: 2 };

let directory: string;
let files: Files;
let app: ServedApp;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-batches-"));
  files = diskFiles({ directory });
  app = await serveApp({ files });
  app.peers.when("offlineSales", "createBatch", async () => ({ job }));
  app.peers.when("offlineSales", "renderBatch", async () => ({ job, file }));
  app.peers.when("offlineSales", "getBatch", async () => ({ batch }));
  app.peers.when("offlineSales", "listBatches", async () => ({ batches: [batch], count: 1, page: 1 }));
  app.peers.when("offlineSales", "cancelBatch", async () => ({ batch, scannedOrders: [] }));
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

it("[O10.1] lists batches without their orders", async () => {
  const { status, json } = await app.send("GET", `${all}?page=1&page_size=20`, { key: keys.reader });
  expect([status, json]).toEqual([200, { count: 1, next: null, previous: null, results: [listed] }]);
  expect(app.peers.requestsOf("listBatches")).toMatchObject([{ page: 1, pageSize: 20 }]);
});

it("[O10.6] shows a batch with its orders", async () => {
  const { status, json } = await app.send("GET", `${all}7/`, { key: keys.reader });
  expect([status, json]).toEqual([200, shown]);
});

describe("a new batch", () => {
  it("[O11.1] is started, and the answer says where it will be", async () => {
    const { status, json } = await app.send("POST", all, { body });
    expect([status, json]).toEqual([202, { check: `${publicBase}${check}` }]);
    const place = { organizer: "bigevents", event: "sampleconf" };
    const sent = { layout: 3, item: 11, salesChannel: "web", amount: 2, testmode: false, comment: "" };
    expect(app.peers.requestsOf("createBatch")).toEqual([
      { ...place, ...sent, subevent: undefined, variation: undefined },
    ]);
  });

  it.each([
    [
      { amount: "7", layout: "3", item: 11.0, variation: "2", subevent: "" },
      { amount: 7, layout: 3, variation: 2 },
    ],
    [
      { amount: 10_000, comment: " note ", testmode: "yes" },
      { amount: 10_000, comment: "note", testmode: true },
    ],
  ])("[O11.1] takes %j as it takes numbers and booleans elsewhere", async (changes, sent) => {
    expect((await app.send("POST", all, { body: { ...body, ...changes } })).status).toBe(202);
    expect(app.peers.requestsOf("createBatch")).toMatchObject([sent]);
  });

  const wrong = [expect.any(String)];
  it.each<[string, unknown, unknown]>([
    ["nothing", {}, { layout: wrong, item: wrong, sales_channel: wrong, amount: wrong }],
    ["no tickets", { ...body, amount: 0 }, { amount: wrong }],
    ["too many tickets", { ...body, amount: 10_001 }, { amount: wrong }],
    ["half a ticket", { ...body, amount: 1.5 }, { amount: wrong }],
    [
      "words for numbers",
      { ...body, amount: "many", layout: true, item: "x" },
      { amount: wrong, layout: wrong, item: wrong },
    ],
    [
      "nulls",
      { ...body, testmode: null, comment: null, sales_channel: null },
      { testmode: wrong, comment: wrong, sales_channel: wrong },
    ],
    [
      "too much text",
      { ...body, comment: "x".repeat(65_537), sales_channel: "x".repeat(191) },
      { comment: wrong, sales_channel: wrong },
    ],
  ])("[O11.2] is refused for %s, by field", async (_name, sent, expected) => {
    const { status, json } = await app.send("POST", all, { body: sent });
    expect([status, json]).toEqual([400, expected]);
    expect(app.peers.requestsOf("createBatch")).toEqual([]);
  });

  it("[O11.3] is refused for what the service finds, by field", async () => {
    const fields = { item: ["It needs a seat."], layout: ["none"] };
    app.peers.when("offlineSales", "createBatch", () =>
      Promise.reject(new Fault("invalid", "invalid_batch", "wrong", { fields })),
    );
    const { status, json } = await app.send("POST", all, { body });
    expect([status, json]).toEqual([400, fields]);
  });
});

describe("GET check/", () => {
  const answer = (state: Partial<FindCreationResponse>) =>
    app.peers.when("offlineSales", "findCreation", async () => ({
      ...{ state: JobState.WAITING, message: "", batch: undefined, ...state },
    }));

  it("[O11.4] says how far the job is, and when to ask again", async () => {
    answer({});
    expect(await app.send("GET", check, { key: keys.reader })).toMatchObject({
      status: 409,
      headers: { "retry-after": "1" },
      json: { status: "waiting" },
    });
    answer({ state: JobState.RUNNING });
    expect(await app.send("GET", check)).toMatchObject({ status: 409, json: { status: "running" } });
    answer({ state: JobState.FAILED, message: "Only 3 tickets are left." });
    expect(await app.send("GET", check)).toMatchObject({
      status: 410,
      json: { status: "failed", message: "Only 3 tickets are left." },
    });
    answer({ state: JobState.SUCCEEDED, batch });
    expect(await app.send("GET", check)).toMatchObject({ status: 200, json: shown });
  });

  it("[O11.4] has nothing under ids that are none", async () => {
    expect((await app.send("GET", `${all}check/x/`)).status).toBe(404);
    expect((await app.send("GET", `${all}check/`)).status).toBe(404);
    expect(app.peers.requestsOf("findCreation")).toEqual([]);
  });
});

describe("rendering", () => {
  const answer = (state: Partial<FindRenderingResponse>) =>
    app.peers.when("offlineSales", "findRendering", async () => ({
      ...{ state: JobState.WAITING, message: "", fileKey: "", size: 0, warnings: 0, ...state },
    }));

  it("[O13.4] is started, and the answer says where the file will be", async () => {
    const { status, json } = await app.send("POST", `${all}7/render/`);
    expect([status, json]).toEqual([202, { download: `${publicBase}${download}` }]);
  });

  it("[O13.5, O13.6] says how far it is, and answers the file with the number of its warnings", async () => {
    answer({});
    expect(await app.send("GET", download, { key: keys.reader })).toMatchObject({
      status: 409,
      headers: { "retry-after": "1" },
      json: { status: "waiting" },
    });
    answer({ state: JobState.RUNNING, done: 2500, total: 10_000 });
    expect(await app.send("GET", download)).toMatchObject({ status: 409, json: { status: "running", percentage: 25 } });
    answer({ state: JobState.FAILED, message: "Part 3: broken" });
    expect(await app.send("GET", download)).toMatchObject({ status: 410, json: { message: "Part 3: broken" } });
    await files.put("renders/x.pdf", Buffer.from("%PDF-1.7 tickets"), { contentType: "application/pdf" });
    answer({ state: JobState.SUCCEEDED, fileKey: "renders/x.pdf", size: 16, warnings: 3 });
    expect(await app.send("GET", download)).toMatchObject({
      status: 200,
      headers: { "content-type": "application/pdf", "content-length": "16", "x-tessera-warnings": "3" },
      text: "%PDF-1.7 tickets",
    });
    await files.remove(["renders/x.pdf"]);
    expect((await app.send("GET", download)).status).toBe(404);
  });

  it("[O13.5] has nothing under ids that are none", async () => {
    expect((await app.send("GET", `${all}7/download/x/${file}/`)).status).toBe(404);
    expect((await app.send("GET", `${all}7/download/${job}/x/`)).status).toBe(404);
    expect((await app.send("GET", `${all}x/download/${job}/${file}/`)).status).toBe(404);
    expect(app.peers.requestsOf("findRendering")).toEqual([]);
  });
});

describe("POST cancel/", () => {
  it("[O14.5] is shown by the batch, alone and in lists", async () => {
    const canceled = { ...batch, canceledAt: batch.createdAt + 1_000_000 };
    app.peers.when("offlineSales", "getBatch", async () => ({ batch: canceled }));
    app.peers.when("offlineSales", "listBatches", async () => ({ batches: [canceled], count: 1, page: 1 }));
    const at = { canceled: "2025-07-08T16:27:33.134368Z" };
    expect((await app.send("GET", `${all}7/`)).json).toMatchObject(at);
    expect((await app.send("GET", all)).json).toMatchObject({ results: [at] });
  });

  it("[O14.3] shows the batch, or the orders whose tickets were scanned", async () => {
    expect(await app.send("POST", `${all}7/cancel/`)).toMatchObject({ status: 200, json: shown });
    app.peers.when("offlineSales", "cancelBatch", async () => ({ batch: undefined, scannedOrders: ["DEF34"] }));
    expect(await app.send("POST", `${all}7/cancel/`, { body: { force: "false" } })).toMatchObject({
      status: 400,
      json: { detail: expect.any(String), scanned_orders: ["DEF34"] },
    });
    const place = { organizer: "bigevents", event: "sampleconf", id: 7 };
    expect(app.peers.requestsOf("cancelBatch")).toEqual([
      { ...place, force: false },
      { ...place, force: false },
    ]);
    expect(await app.send("POST", `${all}7/cancel/`, { body: { force: "maybe" } })).toMatchObject({ status: 400 });
  });
});

it("[O15.1] reads are for those who may read orders, all else for those who may change them", async () => {
  const reads = [all, `${all}7/`, check, download];
  const writes = [all, `${all}7/render/`, `${all}7/cancel/`];
  for (const key of [keys.none, keys.gate, keys.settings, keys.otherEvent, keys.otherOrganizer, devices.kiosk]) {
    for (const path of reads) expect((await app.send("GET", path, { key })).status).toBe(403);
    for (const path of writes) expect((await app.send("POST", path, { key, body })).status).toBe(403);
  }
  for (const path of writes) expect((await app.send("POST", path, { key: keys.reader, body })).status).toBe(403);
});

it("[O15.2] has no other methods", async () => {
  for (const method of ["PUT", "PATCH", "DELETE"]) {
    for (const path of [all, `${all}7/`]) expect((await app.send(method, path, { body })).status).toBe(405);
  }
  expect((await app.send("GET", `${all}7/render/`)).status).toBe(405);
  expect((await app.send("POST", check)).status).toBe(405);
});

it("[O15.3] does not exist where the service is not installed, and nothing else is missing", async () => {
  const without = await serveApp({ hasOfflineSales: false });
  try {
    for (const path of [all, `${all}7/`, check, download]) expect((await without.send("GET", path)).status).toBe(404);
    for (const path of [all, `${all}7/render/`, `${all}7/cancel/`])
      expect((await without.send("POST", path, { body })).status).toBe(404);
    expect(without.routes.length).toBe(app.routes.length - 7);
    expect(without.peers.calls).toEqual([]);
  } finally {
    await without.close();
  }
});

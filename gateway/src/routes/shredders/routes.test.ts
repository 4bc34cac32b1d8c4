import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { diskFiles } from "@tessera/engines/files/disk";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const [one, two] = ["0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1", "1c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f2"];
const all = `${inEvent}/shredders/`;
const download = `${all}download/${one}/${two}/`;
const shred = `${all}shred/${one}/${two}/`;
const status = `${all}status/${one}/${two}/`;
const certificate = `${all}certificate/${one}/`;
const again = { status: 409, headers: { "retry-after": "1" } };

let directory: string;
let files: Files;
let app: ServedApp;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-shredders-"));
  files = diskFiles({ directory });
  app = await serveApp({ files });
  app.peers.when("shredders", "startExport", async () => ({ export: one, file: two }));
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

it("[D1.1, D1.2] lists all kinds on one page, by their names, and shows each", async () => {
  const { json } = await app.send("GET", `${all}?page=7&page_size=1`);
  expect(json).toEqual({
    count: 9,
    next: null,
    previous: null,
    results: [
      { identifier: "attendee_info", verbose_name: "Attendee info" },
      { identifier: "cachedtickets", verbose_name: "Cached ticket files" },
      { identifier: "order_emails", verbose_name: "Emails" },
      { identifier: "invoice_addresses", verbose_name: "Invoice addresses" },
      { identifier: "invoices", verbose_name: "Invoices" },
      { identifier: "payment_info", verbose_name: "Payment information" },
      { identifier: "phone_numbers", verbose_name: "Phone numbers" },
      { identifier: "question_answers", verbose_name: "Question answers" },
      { identifier: "waiting_list", verbose_name: "Waiting list" },
    ],
  });
  expect(await app.send("GET", `${all}order_emails/`)).toMatchObject({
    status: 200,
    json: { identifier: "order_emails", verbose_name: "Emails" },
  });
  expect((await app.send("GET", `${all}toString/`)).status).toBe(404);
});

describe("POST export/", () => {
  it("[D1.3] starts an export, and says where it will be", async () => {
    const { status: answered, json } = await app.send("POST", `${all}export/`, {
      body: { shredders: ["order_emails", "order_emails"] },
    });
    expect([answered, json]).toEqual([202, { download: `${publicBase}${download}`, shred: `${publicBase}${shred}` }]);
    expect(app.peers.requestsOf("startExport")).toMatchObject([
      {
        organizer: "bigevents",
        event: "sampleconf",
        shredders: ["order_emails", "order_emails"],
        instance: publicBase,
      },
    ]);
    expect((await app.send("POST", `${all}export/`, { body: { shredders: [] } })).status).toBe(202);
  });

  it.each([
    [{}],
    [{ shredders: null }],
    [{ shredders: "order_emails" }],
    [{ shredders: ["order_emails", "zz"] }],
    [{ shredders: [7] }],
  ])("[D1.4] refuses %j by its field", async (body) => {
    const { status: answered, json } = await app.send("POST", `${all}export/`, { body });
    expect([answered, json]).toEqual([400, { shredders: [expect.any(String)] }]);
    expect(app.peers.requestsOf("startExport")).toEqual([]);
  });

  it("[D2.2] answers a bare list where the event is not ready", async () => {
    app.peers.when("shredders", "startExport", () =>
      Promise.reject(new Fault("invalid", "not_shreddable", "Not over.")),
    );
    const { status: answered, json } = await app.send("POST", `${all}export/`, { body: { shredders: [] } });
    expect([answered, json]).toEqual([400, ["Not over."]]);
  });
});

it("[D5.3, D5.4] an export says how far it is, and is a ZIP named after its event", async () => {
  const found = (state: JobState, more = {}) =>
    app.peers.when("shredders", "findExport", async () => ({ state, message: "", fileKey: "", ...more }));
  found(JobState.WAITING);
  expect(await app.send("GET", download)).toMatchObject({ ...again, json: { status: "waiting" } });
  found(JobState.RUNNING);
  expect(await app.send("GET", download)).toMatchObject({ ...again, json: { status: "running" } });
  found(JobState.FAILED, { message: "No room." });
  expect(await app.send("GET", download)).toMatchObject({
    status: 410,
    json: { status: "failed", message: "No room." },
  });
  await files.put("exports/x.zip", Buffer.from("PK archive"), { contentType: "application/zip" });
  found(JobState.SUCCEEDED, { fileKey: "exports/x.zip" });
  expect(await app.send("GET", download)).toMatchObject({
    status: 200,
    headers: {
      "content-type": "application/zip",
      "content-length": "10",
      "content-disposition": "attachment; filename=sampleconf.zip",
    },
  });
});

it("[D6.5] an erasure starts once the export is made", async () => {
  const found = (exportState: JobState, more = {}) =>
    app.peers.when("shredders", "startShred", async () => ({ exportState, message: "", case: "", file: "", ...more }));
  found(JobState.RUNNING);
  expect(await app.send("POST", shred)).toMatchObject({ ...again, json: { status: "running" } });
  found(JobState.FAILED, { message: "No room." });
  expect(await app.send("POST", shred)).toMatchObject({ status: 410, json: { status: "failed", message: "No room." } });
  found(JobState.SUCCEEDED, { case: one, file: two });
  expect(await app.send("POST", shred)).toMatchObject({ status: 202, json: { status: `${publicBase}${status}` } });
  app.peers.when("shredders", "startShred", () =>
    Promise.reject(new Fault("invalid", "not_shreddable", "It is online.")),
  );
  expect(await app.send("POST", shred)).toMatchObject({ status: 400, json: ["It is online."] });
});

it("[D7.3] who asked is named for the certificate without the hash of the token: a key as in the list of keys, a device whole", async () => {
  app.peers.when("shredders", "startShred", async () => ({
    ...{ exportState: JobState.SUCCEEDED, message: "", case: one, file: two },
  }));
  for (const key of [keys.all, devices.full]) await app.send("POST", shred, { key });
  const shown = hash("sha256", keys.all).slice(0, 16);
  expect(app.peers.requestsOf("startShred")).toMatchObject([
    { requestedBy: `api_key:${shown}` },
    { requestedBy: "device:3" },
  ]);
});

it("[D6.6] the status says how an erasure ended", async () => {
  const found = (state: JobState, message = "") =>
    app.peers.when("shredders", "findShred", async () => ({ state, message }));
  found(JobState.WAITING);
  expect(await app.send("GET", status)).toMatchObject({ ...again, json: { status: "waiting" } });
  found(JobState.RUNNING);
  expect(await app.send("GET", status)).toMatchObject({ ...again, json: { status: "running" } });
  found(JobState.SUCCEEDED);
  expect(await app.send("GET", status)).toMatchObject({ status: 200, json: { status: "ok", message: "OK" } });
  found(JobState.FAILED, "It changed.");
  expect(await app.send("GET", status)).toMatchObject({
    status: 417,
    json: { status: "failed", message: "It changed." },
  });
  found(JobState.GONE, "Over.");
  expect(await app.send("GET", status)).toMatchObject({ status: 410, json: { status: "gone", message: "Over." } });
});

it("[D7.1] a certificate shows the text that is signed", async () => {
  const statement = Buffer.from('{"case":"x"}');
  app.peers.when("shredders", "getCertificate", async () => ({
    ...{ statement, signature: Buffer.from("sig"), publicKey: "PEM" },
  }));
  const { status: answered, json } = await app.send("GET", certificate);
  expect([answered, json]).toEqual([
    200,
    { statement: { case: "x" }, signed: '{"case":"x"}', signature: "c2ln", public_key: "PEM" },
  ]);
});

it("[D7.3] the operator gets certificates without an event, and no other caller does", async () => {
  const statement = Buffer.from('{"case":"x"}');
  app.peers.when("shredders", "getCertificate", async () => ({
    ...{ statement, signature: Buffer.from("sig"), publicKey: "PEM" },
  }));
  const path = `${inEvent.split("/events/")[0]}/shredders/certificate/${one}/`;
  expect(await app.send("GET", path, { key: keys.operator })).toMatchObject({
    status: 200,
    json: { public_key: "PEM" },
  });
  expect(app.peers.requestsOf("getCertificate")).toMatchObject([{ organizer: "bigevents", event: "", case: one }]);
  expect((await app.send("GET", path.replace(one, "x"), { key: keys.operator })).status).toBe(404);
  expect((await app.send("GET", path)).status).toBe(403);
});

it("[D7.4] anybody gets the public key of certificates", async () => {
  app.peers.when("shredders", "getCertificateKey", async () => ({ publicKey: "PEM" }));
  const found = await app.send("GET", "/api/v1/shredders/key/", { headers: {} });
  expect(found).toMatchObject({ status: 200, json: { public_key: "PEM" } });
});

it("[D7.4] the public key is asked for once a minute at most, and with one call at a time until it is known", async () => {
  const request = () => app.send("GET", "/api/v1/shredders/key/", { headers: {} });
  const ask = async () => (await request()).json;
  const wait = (ms: number) => vi.spyOn(performance, "now").mockReturnValue(performance.now() + ms);
  let underWay = 0;
  app.peers.when("shredders", "getCertificateKey", async () => {
    underWay += 1;
    expect(underWay).toBe(1);
    await setTimeout(20);
    underWay -= 1;
    throw new Error("away");
  });
  const together = await Promise.all([1, 2, 3].map(request));
  expect(together.map(({ status: answered }) => answered)).toEqual([500, 500, 500]);
  app.peers.when("shredders", "getCertificateKey", async () => ({ publicKey: "PEM" }));
  const failed = app.peers.requestsOf("getCertificateKey").length;
  for (let times = 0; times < 3; times += 1) expect(await ask()).toEqual({ public_key: "PEM" });
  expect(app.peers.requestsOf("getCertificateKey")).toHaveLength(failed + 1);
  wait(60_000);
  await ask();
  vi.restoreAllMocks();
  expect(app.peers.requestsOf("getCertificateKey")).toHaveLength(failed + 2);
});

it("[D7.1] an erasure that is not certified tells where its id is found", async () => {
  app.peers.when("shredders", "getCertificate", () =>
    Promise.reject(
      new Fault("not_found", "certificate_not_found", "Its id is the first one in the address of its status."),
    ),
  );
  expect(await app.send("GET", certificate)).toMatchObject({
    status: 404,
    json: { detail: expect.stringContaining("address of its status") },
  });
});

it("[D1.5] ids that are none do not exist", async () => {
  for (const path of [download, status]) expect((await app.send("GET", path.replace(one, "x"))).status).toBe(404);
  for (const path of [download, status]) expect((await app.send("GET", path.replace(two, "x"))).status).toBe(404);
  expect((await app.send("POST", shred.replace(one, "x"))).status).toBe(404);
  expect((await app.send("GET", certificate.replace(one, "x"))).status).toBe(404);
  expect(app.peers.calls).toEqual([]);
});

it("[D1.6] is for those who may change orders alone", async () => {
  for (const key of [
    keys.none,
    keys.reader,
    keys.gate,
    keys.settings,
    keys.otherEvent,
    keys.otherOrganizer,
    devices.kiosk,
  ]) {
    for (const path of [all, `${all}order_emails/`, download, status, certificate])
      expect((await app.send("GET", path, { key })).status).toBe(403);
    for (const path of [`${all}export/`, shred])
      expect((await app.send("POST", path, { key, body: {} })).status).toBe(403);
  }
});

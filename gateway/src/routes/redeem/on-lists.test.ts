import { Fault } from "@tessera/kit/fault";
import type { AnnulScanRequest } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import type { SearchPositionsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type {
  RedeemOnListsRequest,
  ScanOutcome,
  SimulateScanRequest,
} from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aList, aPosition } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, inTheirEvent, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const rpc = "/api/v1/organizers/bigevents/checkinrpc";

const admitted: ScanOutcome = {
  outcome: { $case: "admitted", value: {} },
  list: { id: 8, name: "Gate B", event: "second", subevent: undefined, includePending: true },
  position: aPosition(),
  checkinTexts: [],
};

let app: ServedApp;
let outcome: ScanOutcome;
let scans: RedeemOnListsRequest[];
let searches: SearchPositionsRequest[];
let annulments: AnnulScanRequest[];
let simulations: SimulateScanRequest[];

const explanation = {
  steps: [{ step: "code", passed: true, value: "code", reason: null, text: null }],
  clauses: [{ path: "", rule: { "<": [1, 0] }, passed: false, value: 1, wanted: 0, lacks: 1, text: "No" }],
  ...{ admitted_at: "2026-11-21T12:00:00Z", gates: [{ id: 7, name: "West" }], lists: [] },
};

beforeEach(async () => {
  app = await serveApp();
  outcome = admitted;
  [scans, searches, annulments, simulations] = [[], [], [], []];
  app.peers.when("scans", "redeemOnLists", async (request) => {
    scans.push(request);
    return { outcome };
  });
  app.peers.when("scans", "simulateScan", async (request) => {
    simulations.push(request);
    return { outcome, explanation: Buffer.from(JSON.stringify(explanation)) };
  });
  app.peers.when("checkinLists", "getCheckinList", async ({ id }) => {
    if (id !== 7) throw new Fault("not_found", "list_not_found", "There is no such check-in list.");
    return { list: aList() };
  });
  app.peers.when("listedPositions", "searchPositions", async (request) => {
    searches.push(request);
    return { found: [{ event: "second", positions: [aPosition()] }], count: 51, page: 1 };
  });
  app.peers.when("scanHistory", "annulScan", async (request) => {
    annulments.push(request);
    return {};
  });
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

const unknownLists = () => {
  const message = "There is no check-in list 9, or you have no access to it.";
  return Promise.reject(new Fault("invalid", "unknown_lists", message, { fields: { lists: [message] } }));
};

describe("checkinrpc/redeem/", () => {
  const redeem = (body: object = {}, { key = keys.all, query = "" }: { key?: string; query?: string } = {}) =>
    app.send("POST", `${rpc}/redeem/${query}`, { body: { secret: "abc", lists: [7, 8], ...body }, key });

  it("[E6.1, E6.2] answers with the list and the addresses of the event that decided", async () => {
    const { status, json } = await redeem();
    expect(status).toBe(201);
    expect(json).toMatchObject({
      status: "ok",
      list: { id: 8, event: "second", include_pending: true },
      position: {
        id: 42,
        downloads: [{ url: `${publicBase}/api/v1/organizers/bigevents/events/second/orderpositions/42/download/pdf/` }],
      },
    });
  });

  it("[E6.1, E8.4, C3.27] says what the scanner said, its code never as an id, and its credential", async () => {
    const said = { secret: " 42 ", type: "exit", nonce: "n", force: true, ignore_unpaid: true, answers: { 3: "x" } };
    const rest = { datetime: "2026-11-21T12:00:00Z", source_type: "nfc_uid", use_order_locale: true };
    const medium = { exchange_medium_type: "barcode", exchange_medium_identifier: "WRIST" };
    await redeem({ ...said, ...rest, ...medium, questions_supported: false }, { key: devices.full });
    expect(scans).toMatchObject([
      {
        lists: [7, 8],
        scan: {
          ...{ organizer: "bigevents", event: "", lookup: "42", untrustedInput: true, canceledSupported: true },
          ...{ type: "SCAN_TYPE_EXIT", nonce: "n", force: true, ignoreUnpaid: true, questionsSupported: false },
          ...{
            at: Date.UTC(2026, 10, 21, 12) * 1000,
            sourceType: "nfc_uid",
            useOrderLocale: true,
            exchangeMedium: { type: "barcode", identifier: "WRIST" },
            deviceId: 3,
            gate: 2,
          },
          answers: [{ question: 3, value: '"x"' }],
        },
      },
    ]);
    expect(scans[0]?.among).toBeUndefined();
    await redeem({}, { key: keys.otherEvent });
    expect(scans[1]?.among).toEqual({ slugs: ["other"] });
  });

  it("[E6.1] a refusal is 400, an unknown code 404", async () => {
    outcome = { ...admitted, outcome: { $case: "refused", value: { reason: "rules", explanation: "Later" } } };
    expect(await redeem()).toMatchObject({ status: 400, json: { status: "error", reason: "rules" } });
    outcome = { ...admitted, outcome: { $case: "unknownTicket", value: {} }, position: undefined };
    expect(await redeem()).toMatchObject({ status: 404, json: { reason: "invalid", list: { event: "second" } } });
    outcome = { ...admitted, outcome: { $case: "unknownList", value: {} }, list: undefined, position: undefined };
    expect(await redeem()).toMatchObject({ status: 400, json: { lists: [expect.any(String)] } });
  });

  it("[E6.5] wrong lists are named", async () => {
    app.peers.when("scans", "redeemOnLists", unknownLists);
    expect(await redeem()).toMatchObject({ status: 400, json: { lists: [expect.stringContaining("9")] } });
  });

  it.each([
    [
      { secret: undefined, lists: undefined, type: "in", nonce: 5, source_type: "rfid" },
      ["lists", "secret", "source_type", "type"],
    ],
    [{ secret: "  " }, ["secret"]],
    [{ lists: [] }, ["lists"]],
    [{ lists: Array.from({ length: 40 }, (_, index) => index + 1) }, ["lists"]],
    [{ lists: ["x", -1] }, ["lists"]],
    [{ datetime: "noon", answers: ["M"] }, ["answers", "datetime"]],
  ])("[E6.1] every wrong field is named: %j", async (body, fields) => {
    const { status, json } = await redeem(body);
    expect([status, Object.keys(json as object).sort()]).toEqual([400, fields]);
    expect(scans).toEqual([]);
  });

  it("[S5.7] a device in public is shown no secret", async () => {
    const { json } = await redeem({}, { key: devices.kiosk });
    expect((json as { position: object }).position).toMatchObject({ id: 42, secret: "" });
  });
});

describe("checkinrpc/search/", () => {
  const search = (query: string, key: string = keys.all) => app.send("GET", `${rpc}/search/?${query}`, { key });

  it("[E6.7] pages through what the lists have, with the addresses of each event", async () => {
    const { status, json } = await search("list=7&list=8&list=x&search=%20Ada&ignore_status=true&expand=subevent");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      count: 51,
      next: `${publicBase}${rpc}/search/?expand=subevent&ignore_status=true&list=7&list=8&list=x&page=2&search=+Ada`,
      results: [{ id: 42, downloads: [{ url: expect.stringContaining("/events/second/") }] }],
    });
    expect(searches).toMatchObject([
      {
        lists: [7, 8],
        asked: { organizer: "bigevents", search: "Ada", ignoreStatus: true, searchOnly: false, page: 1 },
      },
    ]);
    await search("list=7", keys.gate);
    expect(searches[1]?.asked).toMatchObject({ searchOnly: true });
  });

  it("[E6.7] unknown lists are 403, none at all 400, and a device in public does not search", async () => {
    for (const query of ["", "list=", "list=x", Array.from({ length: 40 }, (_, id) => `list=${id + 1}`).join("&")])
      expect(await search(query)).toMatchObject({ status: 400, json: { list: [expect.any(String)] } });
    expect((await search("list=7", devices.kiosk)).status).toBe(403);
    app.peers.when("listedPositions", "searchPositions", unknownLists);
    expect(await search("list=9")).toMatchObject({ status: 403, json: { detail: expect.stringContaining("9") } });
  });
});

describe("checkinrpc/annul/", () => {
  const annul = (body: object, key: string = keys.all) => app.send("POST", `${rpc}/annul/`, { body, key });

  it("[E6.8] passes on nonce, time and reason, and who asks", async () => {
    const body = { lists: [7], nonce: " n ", datetime: "2026-11-21T12:00:00Z", error_explanation: "Wrong gate" };
    expect(await annul(body, devices.full)).toMatchObject({ status: 200, json: { status: "ok" } });
    const at = Date.UTC(2026, 10, 21, 12) * 1000;
    expect(annulments).toMatchObject([
      { organizer: "bigevents", lists: [7], nonce: " n ", at, explanation: "Wrong gate", deviceId: 3 },
    ]);
    await annul({ lists: [7], nonce: "n" }, keys.otherEvent);
    expect(annulments[1]).toMatchObject({ among: { slugs: ["other"] } });
    expect(annulments[1]?.deviceId).toBeUndefined();
  });

  it("[E6.9] names every wrong field", async () => {
    const { status, json } = await annul({ datetime: "x" });
    expect([status, Object.keys(json as object).sort()]).toEqual([400, ["datetime", "lists", "nonce"]]);
    expect((await annul({ lists: [7], nonce: "n".repeat(191) })).json).toMatchObject({ nonce: [expect.any(String)] });
    expect(annulments).toEqual([]);
  });
});

describe("a simulated scan", () => {
  const redeemPath = `${inEvent}/checkinlists/7/positions/abc/redeem/`;
  const explain = (query = "", { lookup = "abc", key }: { lookup?: string; key?: string } = {}) =>
    app.send("GET", `${inEvent}/checkinlists/7/positions/${lookup}/explain/${query}`, { key: key ?? keys.all });

  it("[E7.1] is answered as the scan, with its explanation, on either route", async () => {
    const onLists = await app.send("POST", `${rpc}/redeem/`, { body: { secret: "abc", lists: [7], simulate: true } });
    expect(onLists).toMatchObject({ status: 201, json: { status: "ok", explanation } });
    outcome = { ...admitted, outcome: { $case: "refused", value: { reason: "rules" } } };
    const onOne = await app.send("POST", redeemPath, { body: { simulate: true, force: true } });
    expect(onOne).toMatchObject({ status: 400, json: { reason: "rules", explanation } });
    expect(simulations).toMatchObject([
      { lists: [7], scan: { event: "", lookup: "abc", untrustedInput: true } },
      { lists: [], scan: { event: "sampleconf", list: 7, lookup: "abc", force: true } },
    ]);
    expect(scans).toEqual([]);
    app.peers.when("scans", "redeem", async () => ({ outcome: admitted }));
    expect((await app.send("POST", redeemPath, { body: {} })).json).not.toHaveProperty("explanation");
  });

  it("[E7.5] is not explained to a device in public", async () => {
    const { json } = await app.send("POST", redeemPath, { body: { simulate: true }, key: devices.kiosk });
    expect([simulations.length, json]).toEqual([
      1,
      expect.not.objectContaining({ explanation: expect.anything() as unknown }),
    ]);
  });

  it("[E7.5] is asked for at the ticket, by secret or id, with time, gate and type", async () => {
    outcome = { ...admitted, outcome: { $case: "refused", value: { reason: "rules" } } };
    const asked = await explain("?datetime=2026-11-21T12:00:00Z&gate=9&type=exit", { lookup: "a%2Fb" });
    expect(asked).toMatchObject({ status: 200, json: { status: "error", reason: "rules", explanation } });
    expect(simulations).toMatchObject([
      {
        lists: [],
        scan: {
          ...{ organizer: "bigevents", event: "sampleconf", list: 7, lookup: "a/b", untrustedInput: false, gate: 9 },
          ...{ at: Date.UTC(2026, 10, 21, 12) * 1000, type: "SCAN_TYPE_EXIT", questionsSupported: true },
        },
      },
    ]);
    expect(simulations[0]?.scan?.nonce).toBeUndefined();
    await explain("", { key: devices.full });
    expect(simulations[1]?.scan).toMatchObject({ gate: 2, type: "SCAN_TYPE_ENTRY" });
    outcome = { ...admitted, outcome: { $case: "unknownTicket", value: {} }, position: undefined };
    expect(await explain()).toMatchObject({ status: 404, json: { reason: "invalid", explanation } });
  });

  it("[E7.5] is no business of devices in public, other tenants, and other lists", async () => {
    expect((await explain("", { key: devices.kiosk })).status).toBe(403);
    const path = "/checkinlists/7/positions/abc/explain/";
    expect((await app.send("GET", inTheirEvent + path, { key: keys.all })).status).toBe(403);
    const wrong = await explain("?datetime=noon&gate=west&type=in");
    expect([wrong.status, Object.keys(wrong.json as object).sort()]).toEqual([400, ["datetime", "gate", "type"]]);
    expect(simulations).toEqual([]);
    outcome = { ...admitted, outcome: { $case: "unknownList", value: {} }, list: undefined, position: undefined };
    expect((await explain()).status).toBe(404);
  });
});

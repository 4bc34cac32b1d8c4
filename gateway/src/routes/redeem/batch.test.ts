import { Fault } from "@tessera/kit/fault";
import type {
  RedeemManyRequest,
  ScanAnswer,
  ScanOnLists,
  ScanOutcome,
} from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aPosition } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, keys, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const path = "/api/v1/organizers/bigevents/checkinrpc/redeem_batch/";
const upload = "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1";
const file = { upload, name: "me.png", contentType: "image/png", size: 12, sha256: "ab".repeat(32) };
const list = { id: 8, name: "Gate B", event: "second", subevent: undefined, includePending: true };
const bare = { list, position: undefined, checkinTexts: [] };
const admitted: ScanOutcome = { outcome: { $case: "admitted", value: {} }, ...bare };

let app: ServedApp;
let requests: RedeemManyRequest[];
/** What checkin answers to the scan with an index; undefined: it ends there. */
let answerOf: (scan: ScanOnLists, index: number) => ScanOutcome | undefined;
let dropped: unknown[];

beforeEach(async () => {
  [requests, dropped] = [[], []];
  answerOf = () => admitted;
  app = await serveApp({
    findUploads: async (ids) => (ids.includes(upload) ? [file] : []),
    expireDropped: async (ids, place) => void dropped.push([ids, place]),
  });
  app.peers.when("scans", "redeemMany", async (request) => {
    requests.push(request);
    const answers: ScanAnswer[] = [];
    for (const [index, scan] of request.scans.entries()) {
      const outcome = answerOf(scan, index);
      if (outcome === undefined) break;
      const shown = request.isSlim ? outcome : { ...outcome, position: aPosition() };
      answers.push({ answer: { $case: "outcome", value: shown }, position: 42 });
    }
    return { answers };
  });
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

interface Answered {
  readonly results: { readonly status: number; readonly body: Record<string, unknown> }[];
  readonly next: number | null;
}

async function send(body: object, { key = keys.all, query = "" }: { key?: string; query?: string } = {}) {
  const { status, json } = await app.send("POST", `${path}${query}`, { body, key });
  const answered = json as Answered;
  return { status, json, ...answered, statuses: answered.results?.map((each) => each.status) };
}

const scanned = (secret: string, changes: object = {}) => ({ secret, ...changes });
const many = (count: number) => Array.from({ length: count }, (_, index) => scanned(`code${index}`));
const sent = () => requests.flatMap(({ scans }) => scans);

describe("[F2.1] a batch of scans", () => {
  it("is answered scan by scan, each with what it would be answered alone", async () => {
    const outcomes: ScanOutcome[] = [
      admitted,
      { ...bare, outcome: { $case: "refused", value: { reason: "rules", explanation: "Later" } } },
      { ...bare, outcome: { $case: "unknownTicket", value: {} } },
      { ...bare, outcome: { $case: "incomplete", value: { questions: [Buffer.from('{"id":7}')] } } },
      { outcome: { $case: "undecided", value: {} }, list: undefined, position: undefined, checkinTexts: [] },
      { outcome: { $case: "crowded", value: {} }, list: undefined, position: undefined, checkinTexts: [] },
      { outcome: { $case: "unknownList", value: {} }, list: undefined, position: undefined, checkinTexts: [] },
    ];
    answerOf = (_, index) => outcomes[index];
    const { status, results, next, statuses } = await send({ lists: [8], scans: many(7) });
    expect([status, next, statuses]).toEqual([200, null, [201, 400, 404, 400, 503, 429, 400]]);
    const shown = { id: 8, name: "Gate B", event: "second", subevent: null, include_pending: true };
    expect(results.map(({ body }) => body)).toEqual([
      { status: "ok", list: shown, position: { id: 42 } },
      { status: "error", reason: "rules", reason_explanation: "Later", list: shown, position: { id: 42 } },
      { status: "error", reason: "invalid", reason_explanation: null, list: shown },
      { status: "incomplete", list: shown, position: { id: 42 } },
      { detail: expect.stringContaining("send it again") },
      { detail: expect.stringContaining("send it again") },
      { lists: [expect.stringContaining("deleted")] },
    ]);
  });

  it("says of each what its scanner said, and its credential", async () => {
    const said = { type: "exit", nonce: "n", force: true, ignore_unpaid: true, questions_supported: false };
    const rest = { datetime: "2026-11-21T12:00:00Z", source_type: "nfc_uid", use_order_locale: true };
    const medium = { exchange_medium_type: "barcode", exchange_medium_identifier: "WRIST" };
    const answers = { "3": `file:${upload}`, "4": "x" };
    await send(
      { lists: [7], scans: [scanned(" 42 ", { ...said, ...rest, ...medium, answers, lists: [8, 9] }), scanned("b")] },
      { key: devices.full },
    );
    expect(requests).toMatchObject([{ organizer: "bigevents", among: undefined, isSlim: true }]);
    expect(sent()).toMatchObject([
      {
        lists: [8, 9],
        scan: {
          ...{ organizer: "bigevents", event: "", lookup: "42", untrustedInput: true, canceledSupported: true },
          ...{ type: "SCAN_TYPE_EXIT", nonce: "n", force: true, ignoreUnpaid: true, questionsSupported: false },
          ...{ at: Date.UTC(2026, 10, 21, 12) * 1000, sourceType: "nfc_uid", useOrderLocale: true },
          ...{ exchangeMedium: { type: "barcode", identifier: "WRIST" }, deviceId: 3, gate: 2 },
          answers: [
            { question: 3, value: JSON.stringify(`file:${upload}`), file },
            { question: 4, value: '"x"' },
          ],
        },
      },
      { lists: [7], scan: { lookup: "b", force: false, deviceId: 3 } },
    ]);
    expect(dropped).toEqual([[[upload], { organizer: "bigevents", event: "second" }]]);
    await send({ lists: [7], scans: [scanned("a")] }, { key: keys.otherEvent });
    expect(requests[1]?.among).toEqual({ slugs: ["other"] });
  });

  it("of no scan is answered, and checkin is not asked", async () => {
    expect(await send({ scans: [] })).toMatchObject({ status: 200, results: [], next: null });
    expect(requests).toEqual([]);
  });
});

describe("[F2.2] wrong scans", () => {
  it("are 400 with their errors, and the others are decided", async () => {
    const wrong = [
      5,
      {},
      scanned("a", { type: "in" }),
      scanned("a", { lists: [] }),
      scanned("a", { nonce: "n".repeat(191) }),
      scanned("a", { datetime: "yesterday" }),
      scanned("a", { simulate: true }),
      scanned("a", { exchange_medium_type: "tattoo", force: "perhaps" }),
    ];
    const { status, statuses, results } = await send({ lists: [8], scans: [scanned("a"), ...wrong, scanned("b")] });
    expect([status, statuses]).toEqual([200, [201, ...wrong.map(() => 400), 201]]);
    expect(results.slice(1, -1).map(({ body }) => Object.keys(body))).toEqual([
      ...[["non_field_errors"], ["secret"], ["type"], ["lists"], ["nonce"], ["datetime"], ["simulate"]],
      ["force", "exchange_medium_type"],
    ]);
    expect(sent().map(({ scan }) => scan?.lookup)).toEqual(["a", "b"]);
  });

  it("are those that name no list where none is beside them", async () => {
    const { results } = await send({ scans: [scanned("a", { lists: [8] }), scanned("b")] });
    expect(results).toMatchObject([{ status: 201 }, { status: 400, body: { lists: [expect.any(String)] } }]);
  });

  it("are those that name lists of other organizers, events or nobody", async () => {
    app.peers.when("scans", "redeemMany", async () => ({
      answers: [
        { answer: { $case: "invalidLists", value: { problems: ["There is no check-in list 9."] } } },
        { answer: { $case: "outcome", value: admitted }, position: 42 },
      ],
    }));
    const { results } = await send({ scans: [scanned("a", { lists: [9] }), scanned("b", { lists: [8] })] });
    expect(results).toMatchObject([
      { status: 400, body: { lists: ["There is no check-in list 9."] } },
      { status: 201, body: { status: "ok" } },
    ]);
  });

  it.each(["1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z"])("are not those of %s (C3.33)", async (datetime) => {
    expect((await send({ lists: [8], scans: [scanned("a", { datetime })] })).statuses).toEqual([201]);
    expect(sent()[0]?.scan?.at).toBe(Date.parse(datetime) * 1000);
  });

  it("do not fail beside answers that grow too long", async () => {
    const numbers = (count: number) => `{"1":[${Array(count).fill("1e20").join()}]}`;
    const body = `{"lists":[8],"scans":[{"secret":"a","answers":${numbers(10_000)}},{"secret":"b","answers":${numbers(5)}}]}`;
    const headers = { "content-type": "application/json" };
    const { json } = await app.send("POST", path, { body, headers });
    expect((json as Answered).results.map((each) => [each.status, Object.keys(each.body)[0]])).toEqual([
      [400, "answers"],
      [201, "status"],
    ]);
  });
});

describe("[F2.2] the whole batch is refused", () => {
  it("with more than 500 scans, and nothing of it is decided", async () => {
    expect((await send({ lists: [8], scans: many(500) })).statuses).toHaveLength(500);
    const { status, json } = await send({ lists: [8], scans: many(501) });
    expect([status, json]).toEqual([400, { scans: ["At most 500 elements are allowed at once."] }]);
    expect(sent()).toHaveLength(500);
  });

  it.each([
    [{}, ["scans"]],
    [{ scans: null }, ["scans"]],
    [{ scans: {} }, ["scans"]],
    [{ scans: "x" }, ["scans"]],
    [{ lists: ["x"], scans: [] }, ["lists"]],
    [{ lists: [] }, ["lists", "scans"]],
  ])("where %j is no batch", async (body, fields) => {
    const { status, json } = await send(body);
    expect([status, Object.keys(json as object)]).toEqual([400, fields]);
  });

  it("above two megabytes", async () => {
    const scans = many(400).map((scan) => ({ ...scan, answers: { 1: "x".repeat(13_000) } }));
    expect((await send({ lists: [8], scans })).status).toBe(413);
    expect(requests).toEqual([]);
  });
});

describe("[F2.4] nonces", () => {
  it("that two scans of a batch have are refused for the later one; a scan that is sent twice is repeated", async () => {
    const scans = [
      scanned("a", { nonce: "1" }),
      scanned("b", { nonce: "1" }),
      scanned("a", { nonce: "1" }),
      scanned("a", { nonce: "1", type: "exit" }),
      scanned("a", { nonce: "1", lists: [8] }),
      scanned("a", { nonce: "1", lists: [9] }),
      scanned("c", { nonce: "2" }),
    ];
    const { results, statuses } = await send({ lists: [8], scans });
    expect(statuses).toEqual([201, 400, 201, 400, 201, 400, 201]);
    expect(results[1]?.body).toEqual({ nonce: [expect.any(String)] });
    expect(sent().map(({ scan }) => scan?.nonce)).toEqual(["1", "1", "1", "2"]);
  });

  it("are given to scans without one, the same again under an idempotency key", async () => {
    const body = { lists: [8], scans: [scanned("a"), scanned("a", { nonce: "" }), scanned("b", { nonce: null })] };
    await send(body);
    await send(body);
    const nonces = requests.map(({ scans }) => scans.map(({ scan }) => scan?.nonce ?? ""));
    expect(new Set(nonces.flat()).size).toBe(6);
  });
});

describe("[F2.5] fields", () => {
  const shown = async (query: string) => {
    answerOf = () => ({ ...bare, outcome: { $case: "refused", value: { reason: "rules" } } });
    return (await send({ lists: [8], scans: [scanned("a"), scanned("b", { type: "in" })] }, { query })).results;
  };

  it.each([
    ["?fields=status", ["status"], true],
    ["?fields=status,reason&fields=list.event", ["status", "reason", "list"], true],
    ["?fields=position.id,nothing,constructor,__proto__.x", ["position"], true],
    ["?fields=position.secret,position.order", ["position"], false],
    ["?fields=position.id,position", ["position"], false],
    ["?fields=", ["status", "reason", "reason_explanation", "list", "position"], true],
  ])("%s show %j", async (query, names, isSlim) => {
    const [first, second] = await shown(query);
    expect(Object.keys(first?.body ?? {})).toEqual(names);
    expect(requests).toMatchObject([{ isSlim }]);
    // Errors are always shown.
    expect(second?.body).toEqual({ type: [expect.any(String)] });
  });

  it("of objects in them are picked", async () => {
    const [result] = await shown("?fields=list.event,position.secret,position.checkins.type");
    expect(result?.body).toEqual({
      list: { event: "second" },
      position: { secret: "abc", checkins: [{ type: "entry" }] },
    });
  });

  it("may be named as deep as an address can say", async () => {
    const [result] = await shown(`?fields=position.id${".a".repeat(3000)},list${".a".repeat(3000)}`);
    expect(result?.body).toEqual({ position: { id: 42 }, list: {} });
  });

  it("show a device in public no more than a scan alone", async () => {
    const scans = [scanned("a")];
    const { results } = await send({ lists: [8], scans }, { key: devices.kiosk, query: "?fields=position" });
    expect(results[0]?.body["position"]).toMatchObject({ id: 42, secret: "", attendee_email: null });
  });
});

describe("[F2.6] a batch that takes too long", () => {
  it("says where to go on", async () => {
    answerOf = (_, index) => (index < 2 ? admitted : undefined);
    const scans = [
      scanned("a"),
      scanned("b", { type: "in" }),
      scanned("c"),
      scanned("d", { type: "in" }),
      scanned("e"),
    ];
    expect(await send({ lists: [8], scans })).toMatchObject({ statuses: [201, 400, 201, 400], next: 4 });
  });

  it("is 429 if nothing of it was decided, and 503 if nobody knows", async () => {
    answerOf = () => undefined;
    expect((await send({ lists: [8], scans: many(2) })).status).toBe(429);
    app.peers.when("scans", "redeemMany", () => Promise.reject(new Fault("timeout", "timeout", "too slow")));
    expect((await send({ lists: [8], scans: many(2) })).status).toBe(503);
  });
});

describe("[F2.7] beside others", () => {
  it("a sender has so many batches under way, and further ones are 429", async () => {
    const held = Promise.withResolvers<void>();
    app.peers.when("scans", "redeemMany", async ({ scans }) => {
      await held.promise;
      return { answers: scans.map(() => ({ answer: { $case: "outcome", value: admitted }, position: 42 })) };
    });
    const batches = Array.from({ length: 8 }, () => send({ lists: [8], scans: many(2) }));
    await expect.poll(() => app.peers.requestsOf("redeemMany").length).toBe(8);
    expect((await send({ lists: [8], scans: many(2) })).status).toBe(429);
    expect(app.peers.requestsOf("redeemMany")).toHaveLength(8);
    held.resolve();
    expect((await Promise.all(batches)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await send({ lists: [8], scans: many(2) })).status).toBe(200);
  });

  it("large batches of an organizer are decided beside each other", async () => {
    const held = Promise.withResolvers<void>();
    app.peers.when("scans", "redeemMany", async ({ scans }) => {
      await held.promise;
      return { answers: scans.map(() => ({ answer: { $case: "outcome", value: admitted }, position: 42 })) };
    });
    const scans = many(500).map((scan) => ({ ...scan, nonce: `${scan.secret}-${"x".repeat(150)}` }));
    const batches = [1, 2].map(() => send({ lists: [8], scans }));
    await expect.poll(() => app.peers.requestsOf("redeemMany").length).toBe(2);
    held.resolve();
    expect((await Promise.all(batches)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it.each([
    [keys.gate, 200],
    [keys.reader, 403],
    [keys.settings, 403],
    [devices.scan, 200],
    [devices.kiosk, 200],
  ])("who may scan may upload: %s %i", async (key, status) => {
    expect((await send({ lists: [8], scans: many(1) }, { key })).status).toBe(status);
  });
});

import { Fault } from "@tessera/kit/fault";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { RedeemResponse, Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { questionDocument } from "@tessera/testkit/question-document";
import { sample, string } from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aList, aPosition } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const list = { id: 7, name: "Main gate", event: "sampleconf", subevent: undefined, includePending: true };
const shownList = { id: 7, name: "Main gate", event: "sampleconf", subevent: null, include_pending: true };
const admitted: ScanOutcome = {
  outcome: { $case: "admitted", value: {} },
  list,
  position: aPosition(),
  checkinTexts: ["VIP"],
};
const refused: ScanOutcome = {
  ...admitted,
  outcome: { $case: "refused", value: { reason: "rules", explanation: "Only after noon" } },
};
const unknownTicket: ScanOutcome = {
  outcome: { $case: "unknownTicket", value: {} },
  list,
  position: undefined,
  checkinTexts: [],
};
const without = ($case: "undecided" | "crowded"): ScanOutcome => ({ ...unknownTicket, outcome: { $case, value: {} } });
const unknownList: ScanOutcome = { ...unknownTicket, outcome: { $case: "unknownList", value: {} }, list: undefined };

let app: ServedApp;
let scans: Scan[];
let outcome: ScanOutcome;

async function start(options: Parameters<typeof serveApp>[0] = {}): Promise<void> {
  app = await serveApp(options);
  scans = [];
  outcome = admitted;
  app.peers.when("scans", "redeem", async ({ scan }) => {
    if (scan !== undefined) scans.push(scan);
    return { outcome };
  });
  app.peers.when("checkinLists", "getCheckinList", async ({ id }) => {
    if (id !== 7) throw new Fault("not_found", "list_not_found", "There is no such check-in list.");
    return { list: aList() };
  });
}
beforeEach(() => start());
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

const pathTo = (lookup: string, at = 7) => `${inEvent}/checkinlists/${at}/positions/${lookup}/redeem/`;
const redeem = (body: unknown = {}, options: { key?: string; lookup?: string; query?: string } = {}) =>
  app.send("POST", `${pathTo(options.lookup ?? "abc")}${options.query ?? ""}`, { body, key: options.key ?? keys.all });

describe("what a scan is answered", () => {
  it.each([
    ["?pdf_data=true", keys.all, true],
    ["?pdf_data=true", keys.gate, false],
    ["", keys.all, false],
  ])("[C2.26] “%s” as %s adds `pdf_data` to the position: %s", async (query, key, expected) => {
    for (const each of [admitted, refused]) {
      outcome = each;
      const { json } = await redeem({}, { query, key });
      expect("pdf_data" in (json as { position: object }).position).toBe(expected);
    }
  });

  it("[C3.34, C3.36] admitted: 201 with everything a scanner reads", async () => {
    const { status, json } = await redeem();
    expect(status).toBe(201);
    expect(json).toEqual({
      status: "ok",
      require_attention: false,
      checkin_texts: ["VIP"],
      list: shownList,
      position: {
        id: 42,
        order: "ABC12",
        positionid: 1,
        item: 11,
        variation: null,
        price: "23.00",
        attendee_name: "Ada Lovelace",
        attendee_name_parts: { full_name: "Ada Lovelace" },
        company: null,
        street: null,
        zipcode: null,
        city: null,
        country: null,
        state: null,
        attendee_email: null,
        voucher: null,
        tax_rate: "19.00",
        tax_value: "3.67",
        secret: "abc",
        addon_to: null,
        subevent: null,
        checkins: [
          {
            id: 5,
            datetime: "2023-11-14T22:13:20.123456Z",
            list: 7,
            auto_checked_in: false,
            gate: 2,
            device: 9,
            device_id: 3,
            type: "entry",
          },
        ],
        print_logs: [],
        downloads: [{ output: "pdf", url: `${publicBase}${inEvent}/orderpositions/42/download/pdf/` }],
        answers: [{ question: 1, answer: "M", question_identifier: "SIZE", options: [4], option_identifiers: ["M"] }],
        tax_rule: null,
        pseudonymization_id: "PSEUDO",
        seat: {
          id: 1,
          name: "Row 1, Seat 2",
          seat_guid: "1-2",
          zone_name: "A",
          row_name: "1",
          row_label: null,
          seat_label: null,
          seat_number: "2",
        },
        require_attention: false,
        order__status: "p",
        order__valid_if_pending: false,
        order__require_approval: false,
        order__locale: "en",
        valid_from: null,
        valid_until: null,
        blocked: null,
      },
    });
  });

  it("[C3.34] refused: 200, but 400 when it was forced", async () => {
    outcome = refused;
    const { status, json } = await redeem();
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: "error",
      reason: "rules",
      reason_explanation: "Only after noon",
      list: shownList,
      position: { id: 42 },
    });
    expect(await redeem({ force: true })).toMatchObject({ status: 400, json: { status: "error", reason: "rules" } });
    outcome = {
      ...refused,
      outcome: { $case: "refused", value: { reason: "revoked" } },
      position: undefined,
      checkinTexts: [],
    };
    expect((await redeem()).json).toEqual({
      status: "error",
      reason: "revoked",
      reason_explanation: null,
      require_attention: false,
      checkin_texts: [],
      list: shownList,
    });
  });

  it("[C3.34] refused: always 400 where the deployment says so", async () => {
    await app.close();
    await start({ refusedStatus: "invalid" });
    outcome = refused;
    expect((await redeem()).status).toBe(400);
  });

  const decisions = ["force", "ignore_unpaid", "questions_supported", "simulate", "canceled_supported"];
  it.each([
    ...["", [], {}, false, null].flatMap((nothing) => [
      { answers: nothing },
      { source_type: nothing },
      { type: nothing },
    ]),
    ...["", [], {}, null].map((nothing) => Object.fromEntries(decisions.map((name) => [name, nothing]))),
    ...["", [], {}, false, null].flatMap((nothing) => [{ datetime: nothing }, { nonce: nothing }]),
  ])("[A9.27] %j says nothing", async (body) => {
    expect((await redeem(body)).status).toBe(201);
    expect(scans).toMatchObject([
      { answers: [], sourceType: "barcode", type: ScanType.ENTRY, force: false, questionsSupported: true },
    ]);
  });

  it.each([{ answers: ["x"] }, { answers: true }, { answers: 0 }, { force: "x" }, { force: [false] }, { force: 2 }])(
    "[A9.14] %j is refused",
    async (body) => {
      expect(await redeem(body)).toMatchObject({
        status: 400,
        json: { [Object.keys(body)[0] ?? ""]: [expect.any(String)] },
      });
    },
  );

  it("[E8.1] to be exchanged: 400 with what the medium has to be", async () => {
    const value = { mediaPolicy: "reuse_or_new", mediaType: "nfc_uid", explanation: "Scan a wristband" };
    outcome = { ...admitted, outcome: { $case: "exchange", value } };
    for (const key of [keys.all, devices.full]) {
      const { status, json } = await redeem({}, { key });
      expect([status, json]).toMatchObject([
        400,
        {
          ...{ status: "exchange", media_policy: "reuse_or_new", media_type: "nfc_uid" },
          ...{ reason: "exchange", reason_explanation: "Scan a wristband", require_attention: false },
          ...{ checkin_texts: ["VIP"], list: shownList, position: { id: 42 } },
        },
      ]);
    }
  });

  it.each([
    [
      { exchange_medium_type: "nfc_uid", exchange_medium_identifier: " 04AB " },
      { type: "nfc_uid", identifier: " 04AB " },
    ],
    [{ exchange_medium_identifier: "04AB" }, { type: "", identifier: "04AB" }],
    [
      { exchange_medium_type: "", exchange_medium_identifier: "04AB" },
      { type: "", identifier: "04AB" },
    ],
    [{ exchange_medium_type: "nfc_uid", exchange_medium_identifier: "" }, undefined],
    [{ exchange_medium_type: "nfc_uid", exchange_medium_identifier: " \t\u00a0" }, undefined],
    [{ exchange_medium_type: null, exchange_medium_identifier: null }, undefined],
    [{ exchange_medium_type: "nfc_uid" }, undefined],
  ])("[E8.4] the medium of %o is %o", async (body, medium) => {
    await redeem(body);
    expect(scans.map(({ exchangeMedium }) => exchangeMedium)).toEqual([medium]);
  });

  it.each([
    [{ exchange_medium_type: "papyrus" }, "exchange_medium_type"],
    [{ exchange_medium_identifier: "x".repeat(201) }, "exchange_medium_identifier"],
    [{ exchange_medium_identifier: "a\u0000b" }, "exchange_medium_identifier"],
  ])("[E8.4] a medium of %o is 400", async (body, field) => {
    expect(await redeem(body)).toMatchObject({ status: 400, json: { [field]: [expect.any(String)] } });
    expect(scans).toEqual([]);
  });

  it("[C3.28, C3.34] incomplete: 400 with the questions in full", async () => {
    const question = JSON.parse(questionDocument(7)) as unknown;
    const questions = [Buffer.from(JSON.stringify(question))];
    outcome = { ...admitted, outcome: { $case: "incomplete", value: { questions } } };
    const { status, json } = await redeem({ force: true });
    expect(status).toBe(400);
    expect(json).toMatchObject({ status: "incomplete", list: shownList, position: { id: 42 }, questions: [question] });
    expect(json).not.toHaveProperty("reason");
  });

  it("[C3.11] revoked, and its ticket is deleted: no position", async () => {
    outcome = { ...unknownTicket, outcome: { $case: "refused", value: { reason: "revoked", explanation: undefined } } };
    const { status, json } = await redeem();
    expect([status, json]).toMatchObject([200, { status: "error", reason: "revoked", require_attention: false }]);
    expect(json).not.toHaveProperty("position");
  });

  it("[C3.8] a medium of another event: unknown, with an explanation", async () => {
    outcome = { ...unknownTicket, outcome: { $case: "unknownTicket", value: { explanation: "Elsewhere." } } };
    const { status, json } = await redeem();
    expect([status, json]).toMatchObject([404, { reason: "invalid", reason_explanation: "Elsewhere." }]);
  });

  it("[C3.37] what it asks to see in full", async () => {
    const item = { id: 11, name: { en: "Ticket" } };
    outcome = {
      ...admitted,
      documents: { items: [{ id: 11, json: Buffer.from(JSON.stringify(item)) }], subevents: [], questions: [] },
    };
    const { json } = await redeem({}, { query: "?expand=item&expand=nonsense" });
    expect(scans).toMatchObject([{ expand: { item: true, subevent: false, addons: false } }]);
    expect(json).toMatchObject({ position: { item } });
  });

  it("[C3.15, C3.34] an unknown code: 404 with the whole body, forced or not", async () => {
    outcome = unknownTicket;
    for (const body of [{}, { force: true }]) {
      expect(await redeem(body)).toMatchObject({ status: 404 });
    }
    expect((await redeem()).json).toEqual({
      detail: "Not found.",
      status: "error",
      reason: "invalid",
      reason_explanation: null,
      require_attention: false,
      checkin_texts: [],
      list: shownList,
    });
  });

  it("an unknown list: 404 with a detail alone", async () => {
    outcome = unknownList;
    expect(await redeem()).toMatchObject({ status: 404, json: { detail: expect.any(String) } });
    expect(await app.send("POST", pathTo("abc").replace("/7/", "/seven/"), { body: {} })).toMatchObject({
      status: 404,
      json: { detail: "Not found." },
    });
    // Takes precedence over errors of the body.
    expect((await app.send("POST", pathTo("abc", 8), { body: { type: "sideways" } })).status).toBe(404);
  });

  it("[C3.47] too many at a time: 429, whatever the next one says", async () => {
    let answerAll = () => {};
    const held = new Promise<void>((resolve) => (answerAll = resolve));
    app.peers.when("scans", "redeem", async () => {
      await held;
      return { outcome };
    });
    const mostOfOneCredential = 128;
    const waiting = Array.from({ length: mostOfOneCredential }, (_, index) => redeem({}, { lookup: `t${index}` }));
    const crowded = { status: 429, headers: { "retry-after": "1" }, json: { detail: expect.any(String) } };
    await expect.poll(() => redeem({ type: "sideways" })).toMatchObject(crowded);
    // A caller that may not scan here learns nothing about it.
    expect(await redeem({}, { key: keys.reader })).toMatchObject({ status: 403 });
    answerAll();
    await Promise.all(waiting);
    expect(await redeem({ type: "sideways" })).toMatchObject({ status: 400 });
  });

  it.each<[string, number, () => Promise<RedeemResponse>]>([
    ["what could not be decided", 503, async () => ({ outcome: without("undecided") })],
    ["what has no outcome", 503, async () => ({ outcome: undefined })],
    ["a crowd at checkin", 429, async () => ({ outcome: without("crowded") })],
    ["checkin is away", 503, () => Promise.reject(new Fault("unavailable", "peer_unavailable", "away"))],
    ["checkin is late", 503, () => Promise.reject(new Fault("timeout", "deadline_exceeded", "late"))],
    ["checkin fails", 503, () => Promise.reject(new Error("broken"))],
    ["checkin has no room", 429, () => Promise.reject(new Fault("exhausted", "peer_exhausted", "full"))],
  ])("[C3.47] %s: %i and when to try again", async (_what, expected, answer) => {
    app.peers.when("scans", "redeem", answer);
    const { status, headers } = await redeem();
    expect([status, headers["retry-after"]]).toEqual([expected, "1"]);
    expect(app.peers.requestsOf("redeem")).toHaveLength(1);
  });

  it("[S4.19] answers too large for checkin: 413", async () => {
    const tooLarge = new Fault("unmet", "message_too_large", "too large");
    app.peers.when("scans", "redeem", () => Promise.reject(tooLarge));
    expect(await redeem()).toMatchObject({ status: 413 });
  });
});

describe("what a scanner sends", () => {
  it("[C3.33] nothing: an entry now", async () => {
    await app.send("POST", pathTo("abc"));
    expect(scans).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        list: 7,
        lookup: "abc",
        untrustedInput: false,
        type: ScanType.ENTRY,
        at: undefined,
        force: false,
        ignoreUnpaid: false,
        canceledSupported: false,
        questionsSupported: true,
        nonce: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        deviceId: undefined,
        gate: undefined,
        sourceType: "barcode",
        useOrderLocale: false,
        expand: undefined,
        answers: [],
      },
    ]);
  });

  it("[C3.33] everything", async () => {
    await redeem(
      {
        type: "exit",
        datetime: "2024-05-01T10:00:00.5+02:00",
        force: 1,
        ignore_unpaid: "true",
        canceled_supported: true,
        questions_supported: "false",
        nonce: " n ",
        answers: { "1": "x", "2": 3, "3": "" },
        source_type: "barcode",
        use_order_locale: true,
      },
      { key: devices.full },
    );
    expect(scans).toMatchObject([
      {
        type: ScanType.EXIT,
        at: Date.UTC(2024, 4, 1, 8) * 1000 + 500_000,
        force: true,
        ignoreUnpaid: true,
        canceledSupported: true,
        questionsSupported: false,
        nonce: " n ",
        deviceId: 3,
        gate: 2,
        untrustedInput: false,
      },
    ]);
  });

  it("[C3.33] nothing in other words", async () => {
    await redeem({ type: null, datetime: null, force: null, questions_supported: null, nonce: null, answers: null });
    await redeem({ type: "", nonce: "", simulate: false });
    await app.send("POST", pathTo("abc"), {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "type=entry",
    });
    for (const scan of scans) {
      expect(scan).toMatchObject({
        type: ScanType.ENTRY,
        at: undefined,
        force: false,
        questionsSupported: true,
      });
    }
    // Each has a nonce of its own.
    expect(new Set(scans.map(({ nonce }) => nonce)).size).toBe(3);
  });

  it.each([
    ["type", { type: "sideways" }],
    ["type", { type: 1 }],
    ["datetime", { datetime: "tomorrow" }],
    ["datetime", { datetime: 5 }],
    ["nonce", { nonce: "x".repeat(191) }],
    ["nonce", { nonce: { n: 1 } }],
    ["answers", { answers: ["M"] }],
    ["answers", { answers: "1" }],
    ["force", { force: "perhaps" }],
    ["simulate", { simulate: "perhaps" }],
    ["source_type", { source_type: "rfid" }],
  ])("[C3.40] a bad %s: %j", async (field, body) => {
    const { status, json } = await redeem(body);
    expect([status, Object.keys(json as object)]).toEqual([400, [field]]);
    expect(json).not.toHaveProperty("status");
    expect(scans).toEqual([]);
  });

  it.each([
    ["", false],
    ["?untrusted_input=", false],
    ["?untrusted_input=0", false],
    ["?untrusted_input=false", false],
    ["?untrusted_input=False", false],
    ["?untrusted_input=true", true],
    ["?untrusted_input=1", true],
    ["?untrusted_input=FALSE", true],
    ["?untrusted_input=no&expand=item&expand=subevent&pdf_data=true", true],
  ])("[C3.3] %s is untrusted: %s", async (query, untrustedInput) => {
    await redeem({}, { query });
    expect(scans).toMatchObject([{ untrustedInput }]);
  });

  it("[C3.3] from software that passes on what it scanned", async () => {
    await redeem({}, { key: devices.scan, query: "?untrusted_input=false" });
    expect(scans).toMatchObject([{ untrustedInput: true }]);
  });
});

describe("answers to questions", () => {
  const upload = "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1";
  const file = { upload, name: "me.png", contentType: "image/png", size: 12, sha256: "ab".repeat(32) };

  it("are passed on as they are, whatever JSON they may be; what names no question is left out", async () => {
    await redeem({ answers: { "1": "x", "2": 3, "3": "", "4": true, "5": ["a"], "6": null, x: "y", "0": "z" } });
    expect(scans[0]?.answers).toEqual([
      { question: 1, value: '"x"' },
      { question: 2, value: "3" },
      { question: 3, value: '""' },
      { question: 4, value: "true" },
      { question: 5, value: '["a"]' },
      { question: 6, value: "null" },
    ]);
  });

  it("that name an upload of the caller bring its file along", async () => {
    const asked: unknown[] = [];
    await app.close();
    await start({
      findUploads: async (ids, { organizer, kind }) => {
        asked.push([ids, organizer, kind]);
        return [file];
      },
    });
    const other = "file:1c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1";
    await redeem({ answers: { "1": `file:${upload}`, "2": other, "3": "file:x" } });
    expect(asked).toEqual([[[upload, other.slice(5)], "bigevents", "api_key"]]);
    expect(scans[0]?.answers).toEqual([
      { question: 1, value: JSON.stringify(`file:${upload}`), file },
      { question: 2, value: JSON.stringify(other) },
      { question: 3, value: '"file:x"' },
    ]);
  });
});

describe("the scanned code", () => {
  it.each([
    ["a%2Fb", "a/b"],
    ["a/b/c", "a/b/c"],
    ["a%252Fb", "a%2Fb"],
    ["%C3%A4%C3%B6%C3%BC%F0%9F%8E%9F", "äöü🎟"],
    ["a+b%2Bc", "a+b+c"],
    ["a%20b%3Fc%23d%26e", "a b?c#d&e"],
    ["x/redeem", "x/redeem"],
    ["x%2Fredeem%2F", "x/redeem/"],
    ["..%2F..", "../.."],
    ["../..", "../.."],
    ["a;b=c", "a;b=c"],
    ["%25", "%"],
    ["a%5Cb", "a\\b"],
    ["7/positions/8", "7/positions/8"],
  ])("[C3.2] %s is decoded once, to %s", async (encoded, lookup) => {
    expect((await redeem({}, { lookup: encoded })).status).toBe(201);
    expect(scans).toMatchObject([{ lookup }]);
  });

  it("may be as long as a signed secret, and longer", async () => {
    const lookup = "x".repeat(6000);
    expect((await redeem({}, { lookup })).status).toBe(201);
    expect(scans).toMatchObject([{ lookup }]);
  });

  it("is not empty, and its encoded slash does not end it", async () => {
    expect((await redeem({}, { lookup: "" })).status).toBe(404);
    expect((await app.send("POST", `${inEvent}/checkinlists/7/positions/abc%2Fredeem/`, { body: {} })).status).toBe(
      405,
    );
    expect((await app.send("POST", `${inEvent}/checkinlists/7/positions/abc/redeem`, { body: {} })).status).toBe(404);
    expect((await app.send("GET", pathTo("abc"))).status).toBe(405);
    expect(scans).toEqual([]);
  });

  it("comes out as it was, whatever it holds", async () => {
    const codes = sample(string({ unit: "binary", minLength: 1, maxLength: 40 }), 60).filter(
      (code) => !code.includes("\0") && code.isWellFormed(),
    );
    const tricky = ["/", "//", "%", "%2F", "a/redeem", "redeem", "redeem/", "/redeem/", "?", "#", "..", "%25%32%46"];
    for (const code of [...codes, ...tricky]) {
      expect((await app.send("POST", pathTo(encodeURIComponent(code)), { body: {} })).status).toBe(201);
      expect(scans.at(-1)?.lookup).toBe(code);
    }
  });
});

describe("who may scan", () => {
  it.each([
    [keys.gate, 201],
    [keys.reader, 403],
    [keys.settings, 403],
    [devices.full, 201],
    [devices.scan, 201],
    [devices.kiosk, 201],
  ])("%s: %i", async (key, status) => {
    expect((await redeem({}, { key })).status).toBe(status);
  });
});

it("[S4.19] answers that grow when they are written again are refused, for their sender alone", async () => {
  const path = `${inEvent}/checkinlists/7/positions/abc/redeem/`;
  const send = (numbers: number) =>
    app.send("POST", path, {
      headers: { "content-type": "application/json" },
      body: `{"answers":{"1":[${Array(numbers).fill("1e20").join()}]}}`,
    });
  expect((await send(2000)).status).toBe(201);
  const refused = await send(10_000);
  expect([refused.status, refused.json]).toEqual([400, { answers: [expect.stringContaining("65536")] }]);
  expect(scans).toHaveLength(1);
});

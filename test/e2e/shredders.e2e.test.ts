import { createPublicKey, hash, verify } from "node:crypto";
import { rebuildFacts } from "@tessera/cli/topics/rebuild";
import { openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { topics } from "@tessera/protos/topics";
import { fileWith, textIn } from "@tessera/sent-files/testing/sample-files";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backUp, restore } from "./back-up.ts";
import { findTextsInDatabase, findTextsInFiles } from "./find-texts.ts";
import { eventData, itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { untilEnded } from "./until-ended.ts";

const { apiKey, eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("shredded");
const as = `Token ${apiKey}`;
const otherKey = "other-key-of-the-tests-cccccccccccccccccccccccccccccccccccccccccccc";
const root = `${eventPath}/shredders/`;
const identifiers = [
  ...["attendee_info", "order_emails", "cachedtickets", "invoice_addresses", "invoices", "payment_info"],
  ...["phone_numbers", "question_answers", "waiting_list"],
];

/** Of each kind something that stands nowhere else. */
const guest = {
  name: "Fernquist",
  company: "Zwiebelwerk GmbH",
  street: "Glockenspielgasse 7",
  city: "Hinterpfuideifl",
  attendeeEmail: "ada.quillfeather@example.org",
  orderEmail: "buyer.quirk@example.org",
  phone: "+49 621 998877665",
  invoice: "Schnurrbartwichse & Söhne",
  answer: "hazelnut allergy, severe",
  gateAnswer: "came with a ferret",
  fileName: "passport-of-ada.pdf",
  waiting: "Waldemar Wartegern <waldemar@example.org>",
  passport: "P<UTOQUILLFEATHER<<ADA<<<<<<<<<<<<<",
};
const file = fileWith("application/pdf", "secret passport page 4711");
const texts = [...Object.values(guest), "secret passport page 4711"];

const order = (number: number) =>
  orderData({
    code: `SHRED${number}`,
    datetime: "2026-01-15T12:00:00.000Z",
    email: guest.orderEmail,
    phone: guest.phone,
    invoice_address: { name: guest.invoice, company: guest.company, street: guest.street, city: guest.city },
    positions: [
      positionData({
        id: 5000 + number,
        secret: `secret-of-shred-${number}-0123456789`,
        pseudonymization_id: `PSEUDO${number}`,
        attendee_name: `Ada ${guest.name}`,
        attendee_name_parts: { _scheme: "full", full_name: `Ada ${guest.name}` },
        attendee_email: guest.attendeeEmail,
        ...{ company: guest.company, street: guest.street, zipcode: "98765", city: guest.city, country: "DE" },
        answers: [
          { question: 81, answer: guest.answer, question_identifier: "DIET" },
          ...(number === 1
            ? [
                {
                  question: 82,
                  answer: `data:application/pdf;base64,${file.toString("base64")}`,
                  question_identifier: "PASSPORT",
                  file_name: guest.fileName,
                },
              ]
            : []),
        ],
      }),
    ],
  });

describe("personal data of an event that is over", () => {
  let platform: TestPlatform;
  /** Of every service that holds personal data, from before the erasure. */
  let backup: Awaited<ReturnType<typeof backUp>>;
  beforeAll(async () => {
    platform = await startTestPlatform();
    const answer = await platform.import([
      ...groundwork(),
      ofOrganizer("api_key", { token: otherKey, name: "another", permissions: ["*"], all_events: true }),
      ofEvent("event", eventData({ slug: "later" }), "later"),
      ofEvent("event", eventData({ live: true, date_from: "2020-01-01T10:00:00Z", date_to: "2020-01-02T10:00:00Z" })),
      ofEvent("question", { id: 81, question: { en: "Diet?" }, type: "S", identifier: "DIET", items: [1] }),
      ofEvent("question", { id: 82, question: { en: "Passport" }, type: "F", identifier: "PASSPORT", items: [1] }),
      ofEvent("question", {
        ...{ id: 83, question: { en: "Anything else?" }, type: "S", identifier: "ELSE", items: [1] },
        ...{ ask_during_checkin: true, required: false },
      }),
      ofEvent("checkin_list", listData()),
      ...Array.from({ length: 30 }, (_, index) => ofEvent("order", order(index + 1))),
      ofEvent("voucher", { id: 91, code: "WAITED", tag: "waiting-list", comment: guest.waiting, max_usages: 1 }),
      ofEvent("voucher", { id: 92, code: "OTHER", tag: "press", comment: "stays as it is", max_usages: 1 }),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    platform.keepOutOfLogs(apiKey, otherKey, ...texts);
    const scan = (secret: string, body: object) =>
      send("POST", `${eventPath}/checkinlists/1/positions/${encodeURIComponent(secret)}/redeem/`, body);
    expect((await scan("secret-of-shred-2-0123456789", { answers: { 83: guest.gateAnswer } })).status).toBe(201);
    expect((await scan(guest.passport, {})).status).toBe(404);
  });
  afterAll(async () => {
    await platform?.stop();
  });

  const send = (method: string, path: string, body?: unknown, key = as) =>
    platform.request(method, path, { as: key, ...(body === undefined ? {} : { body }) });

  /** Lets a week pass for the erasures that are announced, and has all events read again. */
  async function passWeek(): Promise<void> {
    const log = createLog({ service: "test", destination: { write: () => {} } });
    const db = openDatabase({ url: platform.databaseUrl, schema: "shredder", applicationName: "test", log });
    await db.run(sql`update announced_erasure set announced_at = announced_at - interval '7 days'`);
    await db.run(sql`update retention set round_at = now()`);
    await db.close();
  }

  const eventually = (check: () => Promise<void>) => expect.poll(() => check().then(() => "passed")).toBe("passed");

  const outcomeOf = (address: string) => untilEnded(address, (path) => send("GET", path));

  async function startExport(shredders: readonly string[]): Promise<{ download: string; shred: string }> {
    const { status, body } = await send("POST", `${root}export/`, { shredders });
    expect([status, body]).toEqual([202, { download: expect.any(String), shred: expect.any(String) }]);
    return body;
  }

  async function makeExport(shredders: readonly string[]): Promise<{ download: string; shred: string; zip: Buffer }> {
    const started = await startExport(shredders);
    const { pathname } = new URL(started.download);
    const download = await outcomeOf(started.download);
    expect(download.status).toBe(200);
    const response = await fetch(`${platform.baseUrl}${pathname}`, { headers: { authorization: as } });
    return { ...started, zip: Buffer.from(await response.arrayBuffer()) };
  }

  async function shred(address: string): Promise<Answer & { readonly id: string }> {
    const { status, body } = await send("POST", new URL(address).pathname);
    expect([status, body]).toEqual([202, { status: expect.any(String) }]);
    return { ...(await outcomeOf(body.status)), id: new URL(body.status).pathname.split("/").at(-3) ?? "" };
  }

  it("[D2.1, D2.2] is neither exported nor erased before the event is over and its shop is offline", async () => {
    const later = `${root.replace("sampleconf", "later")}export/`;
    expect(await send("POST", later, { shredders: [] })).toMatchObject({
      status: 400,
      body: [expect.stringContaining("over")],
    });
    expect(await send("POST", `${root}export/`, { shredders: [] })).toMatchObject({
      status: 400,
      body: [expect.stringContaining("offline")],
    });
    // What is still on its way would count as a change.
    await eventually(async () =>
      expect(await findTextsInDatabase(platform.databaseUrl, [guest.gateAnswer])).toContain(
        `boxoffice.gate_answer.answer: ${guest.gateAnswer}`,
      ),
    );
    const offline = eventData({ live: false, date_from: "2020-01-01T10:00:00Z", date_to: "2020-01-02T10:00:00Z" });
    expect(await platform.import([ofEvent("event", offline)])).toMatchObject({ rejected: 0, settled: true });
  });

  it("[D5.1, D5.2, D5.4] is exported, for the key that asked for it and for no other", async () => {
    const { download, shred: address, zip } = await makeExport(identifiers);
    const parts = unzipSync(zip);
    const json = (name: string) => JSON.parse(strFromU8(parts[name] ?? new Uint8Array())) as Record<string, unknown>;
    expect(json("index.json")).toMatchObject({
      organizer: "shredded",
      event: "sampleconf",
      shredders: identifiers,
      confirm_code: strFromU8(parts["CONFIRM_CODE.txt"] ?? new Uint8Array()),
      held_nowhere: ["invoices", "payment_info"],
    });
    expect(Object.keys(json("attendee-info.json"))).toHaveLength(30);
    expect(json("attendee-info.json")).toMatchObject({
      "SHRED7-1": { name: `Ada ${guest.name}`, company: guest.company, street: guest.street, country: "DE" },
    });
    expect(json("emails-by-order.json")).toMatchObject({ SHRED1: guest.orderEmail });
    expect(json("emails-by-attendee.json")).toMatchObject({ "SHRED1-1": guest.attendeeEmail });
    expect(json("phone-by-order.json")).toMatchObject({ SHRED30: guest.phone });
    expect(json("invoice-addresses.json")).toMatchObject({ SHRED2: { name: guest.invoice } });
    expect(json("question-answers.json")).toMatchObject({
      "SHRED2-1": [
        { question: 81, answer: guest.answer, question_identifier: "DIET" },
        { question: 83, answer: guest.gateAnswer },
      ],
    });
    expect(json("waiting-list.json")).toMatchObject([{ voucher: "WAITED", comment: guest.waiting }]);
    expect(textIn(parts[`SHRED1-1-PASSPORT-${guest.fileName}`] ?? new Uint8Array())).toBe(textIn(file));
    for (const [url, method] of [
      [download, "GET"],
      [address, "POST"],
    ] as const) {
      const { pathname } = new URL(url);
      const foreign = `Token ${otherKey}`;
      expect((await send(method, pathname, undefined, foreign)).status).toBe(404);
      expect((await send(method, pathname.replace("sampleconf", "later"))).status).toBe(404);
      expect((await send(method, pathname.replace(/[0-9a-f-]{36}/, "x"))).status).toBe(404);
    }
  });

  it("[D2.3] stays where it is if anything has changed since the export", async () => {
    const { shred: address, download } = await makeExport(["order_emails"]);
    expect(await platform.import([ofEvent("order", order(31))])).toMatchObject({ rejected: 0, settled: true });
    const ended = await shred(address);
    expect([ended.status, ended.body]).toEqual([
      417,
      { status: "failed", message: expect.stringContaining("changed") },
    ]);
    expect((await outcomeOf(download)).status).toBe(200);
    expect(await findTextsInDatabase(platform.databaseUrl, [guest.orderEmail])).not.toEqual([]);
  });

  it("[D6.3, D6.4, D7.1] is erased everywhere, which is certified", async () => {
    const { download, shred: address, zip } = await makeExport(identifiers);
    backup = await backUp(platform.databaseUrl, ["boxoffice", "checkin", "gateway", "layout", "voucher"]);
    const ended = await shred(address);
    expect([ended.status, ended.body]).toEqual([200, { status: "ok", message: "OK" }]);
    expect((await send("GET", new URL(download).pathname)).status).toBe(404);
    expect((await send("POST", new URL(address).pathname)).status).toBe(404);
    await eventually(async () => expect(await findTextsInDatabase(platform.databaseUrl, texts)).toEqual([]));
    expect(await findTextsInFiles(platform.filesDirectory, texts)).toEqual([]);

    const unknown = "3f1c9a1e-5f7e-4b38-9a3e-0d6b8e5c7a10";
    expect((await send("GET", `${root}certificate/${unknown}/`)).status).toBe(404);
    const { body } = await send("GET", `${root}certificate/${ended.id}/`);
    const { signed, signature, public_key: key, statement } = body;
    expect(verify(null, Buffer.from(signed), createPublicKey(key), Buffer.from(signature, "base64"))).toBe(true);
    expect(JSON.parse(signed)).toEqual(statement);
    expect(statement).toMatchObject({
      ...{ event: "sampleconf", case: ended.id, shredders: identifiers, export_sha256: hash("sha256", zip) },
      services: expect.arrayContaining([
        {
          service: "boxoffice",
          erased: expect.arrayContaining([{ shredder: "phone_numbers", holding: "order.data", count: 31 }]),
          kept: expect.arrayContaining([
            { holding: "order.data", reason: expect.stringContaining("the organizer noted and no export has") },
          ]),
        },
        expect.objectContaining({
          service: "gateway",
          kept: expect.arrayContaining([{ holding: "upload", reason: expect.stringContaining("no answer has named") }]),
        }),
        expect.objectContaining({
          service: "voucher",
          erased: expect.arrayContaining([expect.objectContaining({ shredder: "waiting_list" })]),
        }),
      ]),
    });
    // Without the event, and with a key that is not in the certificate.
    const ofOrganizer = `${eventPath.split("/events/")[0]}/shredders/certificate/${ended.id}/`;
    expect((await send("GET", ofOrganizer, undefined, `Token ${platform.operatorKey}`)).body).toEqual(body);
    expect((await send("GET", "/api/v1/shredders/key/")).body).toEqual({ public_key: key });
    expect(await shred((await makeExport([])).shred)).toMatchObject({ status: 200 });
  });

  it("[D4.8] does not come back by records", async () => {
    const before = { ...order(5), email: null };
    const answer = await platform.import([ofEvent("order", order(1)), ofEvent("order", before)]);
    expect(answer).toMatchObject({ rejected: 0, warned: 2 });
    expect(JSON.stringify(answer)).toContain("positions.0.attendee_name");
    await eventually(async () => expect(await findTextsInDatabase(platform.databaseUrl, texts)).toEqual([]));
  });

  it("[D8.1] does not come back with a backup, where erasures are repeated as the page on operations says", async () => {
    platform.examineLog();
    // Jobs that meet its locks run again.
    platform.expectErrors("job failed; it runs again");
    await restore(platform.databaseUrl, backup);
    const found = await findTextsInDatabase(platform.databaseUrl, texts);
    for (const text of [guest.name, guest.orderEmail, guest.answer, guest.gateAnswer, guest.waiting])
      expect(found.filter((place) => place.includes(text))).not.toEqual([]);
    expect(found.filter((place) => place.startsWith("checkin.position."))).not.toEqual([]);
    await rebuildFacts([topics.shredRequested.name, "--database-url", platform.databaseUrl]);
    await eventually(async () => expect(await findTextsInDatabase(platform.databaseUrl, texts)).toEqual([]));
    expect(await findTextsInFiles(platform.filesDirectory, texts)).toEqual([]);
    expect(await platform.import([ofEvent("order", order(1))])).toMatchObject({ rejected: 0, warned: 1 });
    expect(await findTextsInDatabase(platform.databaseUrl, texts)).toEqual([]);
  });

  it("leaves tickets that are admitted as before", async () => {
    const path = `${eventPath}/checkinlists/1/positions/secret-of-shred-9-0123456789/redeem/`;
    const { status, body } = await send("POST", path, { questions_supported: false });
    expect([status, body.position.attendee_name]).toEqual([201, null]);
  });

  it("[D9.2, D9.3, D9.10] is erased by retention when a week has passed, which is certified", async () => {
    const place = "old-fair";
    const over = { slug: place, live: true, date_from: "2021-01-01T10:00:00Z", date_to: "2021-01-02T10:00:00Z" };
    const person = "grete.gestern@example.org";
    const records = (shown: { readonly live: boolean }) => [ofEvent("event", eventData({ ...over, ...shown }), place)];
    expect(
      await platform.import([
        ...records({ live: true }),
        ofEvent("item", itemData({ category: null }), place),
        ofEvent(
          "order",
          orderData({
            code: "PAST1",
            email: person,
            positions: [positionData({ id: 7001, secret: "secret-of-the-past-0123456789" })],
          }),
          place,
        ),
      ]),
    ).toMatchObject({ rejected: 0, settled: true });
    const retention = eventPath.replace(/\/events\/.*/, "/retention/");
    const shredders = ["order_emails", "attendee_info"].toSorted();
    expect(await send("GET", retention)).toMatchObject({ status: 200, body: { days: null, shredders: [] } });
    expect(await send("PUT", retention, { days: 0, shredders })).toMatchObject({ status: 200, body: { days: 0 } });
    const upcoming = async () => (await send("GET", `${retention}upcoming/`)).body.results as Record<string, unknown>[];
    const reason = expect.stringContaining("offline");
    await eventually(async () =>
      expect(await upcoming()).toEqual([
        { event: place, due: expect.any(String), shredders, state: "blocked", reason },
      ]),
    );
    expect(await platform.import(records({ live: false }))).toMatchObject({ rejected: 0, settled: true });
    await passWeek();
    await eventually(async () => expect(await upcoming()).toEqual([]));
    const { body } = await send("GET", `${retention}erased/`);
    expect(body.results).toMatchObject([{ event: place, shredders }]);
    const certificate = await send("GET", new URL(body.results[0].certificate).pathname);
    expect(certificate).toMatchObject({ status: 200, body: { statement: { event: place, shredders } } });
    await eventually(async () => expect(await findTextsInDatabase(platform.databaseUrl, [person])).toEqual([]));
  });
});

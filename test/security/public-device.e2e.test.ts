import { posix } from "node:path";
import { aPng } from "@tessera/sent-files/testing/sample-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemData, listData, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";

const { eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("public-devices");
const kiosk = "Device token-of-a-kiosk-0123456789";
const staff = "Device token-of-the-staff-0123456789";
const renewed = "Device token-to-be-renewed-0123456789";
const revoked = "Device token-to-be-revoked-0123456789";
const scanner = (device_id: number, as: string, security_profile: string) =>
  ofOrganizer("device", { device_id, token: as.slice("Device ".length), security_profile, all_events: true });

/** Everything that no passer-by may see begins with it; what may be seen does not. */
const planted = "planted";

const contacts = (id: number) => ({
  secret: `${planted}-secret-${id}`,
  attendee_name: "Ada Visible",
  attendee_email: `${planted}${id}@example.org`,
  company: `${planted} company`,
  street: `${planted} street`,
  zipcode: `${planted} zipcode`,
  city: `${planted} city`,
  country: "XK",
  state: `${planted} state`,
});
const answers = [
  { question: 1, answer: `${planted} telephone` },
  { question: 2, answer: `${planted} line` },
  { question: 3, answer: `data:image/png;base64,${aPng().toString("base64")}`, file_name: `${planted}.png` },
  { question: 4, answer: "Medium", options: [41], option_identifiers: ["M"] },
  { question: 5, answer: `${planted} text` },
];
const ticket = (id: number, rest: object = {}) =>
  positionData({ id, positionid: id, answers, ...contacts(id), ...rest });
const order = (code: string, positions: object[], rest: object = {}) =>
  ofEvent(
    "order",
    orderData({
      code,
      secret: `${planted}-secret-of-order`,
      email: `${planted}@example.org`,
      phone: `${planted} phone`,
      comment: `${planted} comment`,
      checkin_text: `${planted} note, call +43 ${planted}`,
      invoice_address: {
        company: `${planted} company`,
        name: "Ada Visible",
        street: `${planted} street`,
        vat_id: `${planted} vat`,
      },
      positions,
      ...rest,
    }),
  );
const question = (id: number, type: string, rest: object = {}) =>
  ofEvent("question", { id, question: { en: `Question ${id}` }, type, items: [], show_during_checkin: true, ...rest });

describe("a device that stands in public", () => {
  let platform: TestPlatform;
  let operations: string[];

  beforeAll(async () => {
    platform = await startTestPlatform();
    platform.keepOutOfLogs(planted);
    const taken = await platform.import([
      ...groundwork(),
      scanner(11, kiosk, "pretixscan_online_kiosk"),
      scanner(12, staff, "pretixscan"),
      scanner(13, renewed, "pretixscan_online_kiosk"),
      scanner(14, revoked, "pretixscan_online_kiosk"),
      ofEvent("category", { id: 1, name: { en: "Tickets" } }),
      ofEvent("item", itemData({ id: 3, name: { en: "Asked" }, checkin_text: "For all to read" })),
      question(1, "TEL"),
      question(2, "S"),
      question(3, "F"),
      question(4, "C", { options: [{ id: 41, identifier: "M", answer: { en: "Medium" } }] }),
      question(5, "T"),
      question(6, "T", { items: [3], ask_during_checkin: true, required: true }),
      ofEvent("checkin_list", listData()),
      ofEvent("checkin_list", listData({ id: 2, name: "Others", all_products: false, limit_products: [2] })),
      ofEvent("checkin_list", listData({ id: 3, name: "Never", rules: { "<": [{ var: "entries_number" }, 0] } })),
      order("PAID1", [ticket(1), ticket(2, { addon_to: 1 })]),
      order("OPEN1", [ticket(3)], { status: "n" }),
      order("GONE1", [ticket(4)], { status: "c" }),
      order("ASKED", [ticket(5, { item: 3 })]),
      order("BLOCK", [ticket(6, { blocked: ["admin"] })]),
      order("LATER", [ticket(7, { valid_from: "2100-01-01T00:00:00Z" })]),
      ofOrganizer("reusable_medium", {
        id: 1,
        type: "barcode",
        identifier: "WRISTBAND",
        linked_orderpositions: [{ id: 1, event: "sampleconf" }],
      }),
      ofEvent("revoked_secret", { id: 1, secret: "REVOKED", created: "2027-12-02T10:00:00Z", position: 1 }),
    ]);
    expect(taken).toMatchObject({ rejected: 0, settled: true });
    const { paths } = (await platform.request("GET", "/api/v1/openapi.json")).body as {
      paths: Record<string, Record<string, { description: string }>>;
    };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { description }]) => /device profiles .*pretixscan_online_kiosk/.test(description))
        .map(([method]) => `${method} ${path.replace(/^.*\{event\}/, "")}`),
    );
  });
  afterAll(() => platform.stop());

  const everything = "expand=item&expand=variation&expand=subevent&expand=answers.question&expand=addons&pdf_data=true";
  const send = (
    method: string,
    path: string,
    rest: { body?: unknown; headers?: Record<string, string>; as?: string },
  ) => platform.request(method, path, { as: kiosk, ...rest });
  const lists = `${eventPath}/checkinlists/`;
  const redeem = (lookup: number | string, body: object = {}, { list = 1, query = everything, as = kiosk } = {}) =>
    send("POST", `${lists}${list}/positions/${lookup}/redeem/?${query}`, { body, as });
  const report = (body: object) =>
    send("POST", `${lists}1/failed_checkins/`, { body: { error_reason: "error", raw_barcode: "seen", ...body } });
  const textOf = ({ bytes, headers }: Answer) => bytes.toString() + JSON.stringify([...headers]);
  const reasonsOf = (all: readonly Answer[]) => all.map(({ body }) => body.reason ?? body.status);

  const reads = (paths: readonly string[], base = eventPath) =>
    Object.fromEntries(
      paths.map((path) => [`get ${path}`, async () => [await send("GET", base + path.replace("{id}", "1"), {})]]),
    );
  const ofOrganizerRead = (path: string, query = "") => ({
    [`get /api/v1/organizers/{organizer}/${path}`]: async () => [await send("GET", `${ofAll}/${path}${query}`, {})],
  });
  const machine = { hardware_brand: "A", hardware_model: "B", software_brand: "C", software_version: "1" };
  const device = "/api/v1/device/";
  const ofAll = posix.dirname(posix.dirname(eventPath));
  const rpc = `${ofAll}/checkinrpc`;

  /** Every operation that the profile opens, and how much of it there is to see. */
  const uses: Readonly<Record<string, () => Promise<Answer[]>>> = {
    ...reads(["/", "/settings/", "/subevents/", "/subevents/{id}/", "/categories/", "/categories/{id}/", "/items/"]),
    ...reads(["/items/{id}/", "/questions/", "/questions/{id}/", "/badgelayouts/", "/badgeitems/"]),
    ...reads(["/revokedsecrets/", "/blockedsecrets/", "/pack/"]),
    ...reads([`${device}info`, `${device}eventselection`, "/api/v1/version"], ""),
    "get /api/v1/organizers/{organizer}/events/": async () => [await send("GET", `${posix.dirname(eventPath)}/`, {})],
    ...ofOrganizerRead("subevents/"),
    ...ofOrganizerRead("gates/"),
    ...ofOrganizerRead("sync/", "?codes=hashed"),
    [`post ${device}update`]: async () => [await send("POST", `${device}update`, { body: machine })],
    [`post ${device}roll`]: async () => [await send("POST", `${device}roll`, { body: {}, as: renewed })],
    [`post ${device}revoke`]: async () => [await send("POST", `${device}revoke`, { body: {}, as: revoked })],
    "get /checkinlists/": async () => [await send("GET", `${lists}?expand=subevent`, {})],
    "get /checkinlists/{id}/status/": async () => [await send("GET", `${lists}1/status/`, {})],
    "post /checkinlists/{list}/positions/{lookup}/redeem/": async () => {
      const secret = (id: number) => `${planted}-secret-${id}`;
      const sent = [
        await redeem(secret(1), {}, { list: 2 }),
        await redeem(secret(1), {}, { list: 3 }),
        await redeem("REVOKED"),
        await redeem(secret(1), { nonce: "once" }),
        await redeem(secret(1), { nonce: "once" }),
        await redeem(secret(1)),
        await redeem("WRISTBAND"),
        await redeem(secret(1), { force: true }),
        await redeem(secret(1), { type: "exit" }),
        await redeem(secret(2)),
        await redeem(secret(3)),
        await redeem(secret(4), { canceled_supported: true }),
        await redeem(secret(5)),
        await redeem(secret(5), { answers: { 6: `${planted} answer` } }),
        await redeem(secret(6)),
        await redeem(secret(7)),
      ];
      expect(reasonsOf(sent)).toEqual([
        ...["product", "rules", "revoked", "ok", "ok", "already_redeemed", "already_redeemed", "ok", "ok", "ok"],
        ...["unpaid", "canceled", "incomplete", "ok", "blocked", "invalid_time"],
      ]);
      return sent;
    },
    "post /checkinlists/{list}/failed_checkins/": async () => [
      await report({ raw_barcode: "seen" }),
      await report({ error_explanation: "seen", nonce: "twice" }),
    ],
    "post /api/v1/upload": async () => [
      await send("POST", "/api/v1/upload", {
        body: aPng(),
        headers: { "content-type": "image/png", "content-disposition": 'attachment; filename="a.png"' },
      }),
    ],
    "get /api/v1/idempotency_query": async () => {
      const path = `${lists}1/positions/${planted}-secret-1/redeem/?${everything}`;
      const headers = { "x-idempotency-key": "again" };
      const first = await send("POST", path, { body: {}, headers });
      const repeated = await send("POST", path, { body: {}, headers });
      const asked = await send("GET", "/api/v1/idempotency_query?key=again", {});
      expect([repeated.body, asked.body]).toEqual([first.body, first.body]);
      return [first, repeated, asked];
    },
    "post /api/v1/organizers/{organizer}/checkinrpc/redeem/": async () => {
      const scan = (secret: string, body: object = {}) =>
        send("POST", `${rpc}/redeem/?${everything}`, { body: { secret, lists: [1], ...body } });
      const code = `${planted}-secret-1`;
      const sent = [
        await scan("nothing"),
        await scan("REVOKED"),
        await scan("WRISTBAND"),
        await scan(code, { type: "exit", nonce: "taken back" }),
        await scan(`${planted}-secret-3`),
        await scan(`${planted}-secret-7`),
      ];
      expect(reasonsOf(sent)).toEqual(["invalid", "revoked", "already_redeemed", "ok", "unpaid", "invalid_time"]);
      return sent;
    },
    "post /api/v1/organizers/{organizer}/checkinrpc/redeem_batch/": async () => {
      const codes = ["nothing", "REVOKED", "WRISTBAND", `${planted}-secret-3`, `${planted}-secret-4`];
      const body = { lists: [1], scans: codes.map((secret) => ({ secret })) };
      const sent = await send("POST", `${rpc}/redeem_batch/`, { body });
      expect(reasonsOf(sent.body.results)).toEqual(["invalid", "revoked", "ok", "unpaid", "canceled"]);
      return [sent];
    },
    "post /api/v1/organizers/{organizer}/checkinrpc/annul/": async () => [
      await send("POST", `${rpc}/annul/`, { body: { lists: [1], nonce: "taken back" } }),
    ],
  };

  it("[S5.7] is shown no contact and no secret on any address that it may use", async () => {
    expect(operations.sort()).toEqual(Object.keys(uses).sort());
    for (const [operation, use] of Object.entries(uses)) {
      for (const answer of await use()) {
        expect(answer.status, operation).toBeLessThan(405);
        expect(textOf(answer), operation).not.toContain(planted);
      }
    }
  });

  it("[S5.7] is shown names, what was chosen from options, and the texts of products", async () => {
    const answer = await redeem(`${planted}-secret-5`, { force: true });
    expect(answer.body).toMatchObject({
      checkin_texts: ["For all to read"],
      position: {
        id: 5,
        order: "ASKED",
        attendee_name: "Ada Visible",
        secret: "",
        attendee_email: null,
        country: null,
        item: { name: { en: "Asked" } },
        answers: [{ question: { id: 4 }, answer: "Medium", options: [41] }],
      },
    });
  });

  it("[S5.7] is shown less than the staff, who see all of it", async () => {
    const { body } = await redeem(`${planted}-secret-1`, { force: true }, { as: staff });
    expect(JSON.stringify(body).split(planted).length).toBeGreaterThan(10);
    expect(body.position.addons).toMatchObject([{ secret: `${planted}-secret-2` }]);
  });

  it("[S5.6] finds no ticket by its number, whatever it says of its input", async () => {
    for (const id of [1, 2, 5, "001", "%31", 9999]) {
      for (const body of [{}, { force: true }, { type: "exit" }]) {
        for (const query of ["", "untrusted_input=false", "untrusted_input=0"]) {
          const answer = await redeem(id, body, { query });
          expect(answer).toMatchObject({ status: 404, body: { reason: "invalid" } });
          expect(answer.body).not.toHaveProperty("position");
        }
      }
    }
    expect((await send("GET", `${eventPath}/orderpositions/1/answer/3/`, {})).status).toBe(403);
    for (const path of [`${lists}1/positions/`, `${lists}1/positions/1/`, `${eventPath}/checkins/`]) {
      expect((await send("GET", path, {})).status, path).toBe(403);
    }
    const [known, unknown] = [await report({ position: 1 }), await report({ position: 9999 })];
    expect([known.status, known.body.position, unknown.status, unknown.body.position]).toEqual([201, null, 201, null]);
  });

  it("[S5.6] a check-in key of a scanner page goes on scanning by number", async () => {
    const key = "token-of-a-page-0123456789";
    await platform.import([
      ofOrganizer("api_key", { token: key, name: "page", permissions: ["event.orders:checkin"], all_events: true }),
    ]);
    expect((await redeem(2, { type: "exit" }, { as: `Token ${key}`, query: "" })).status).toBe(201);
  });
});

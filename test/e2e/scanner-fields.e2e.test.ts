import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { scannerNeeds as needs } from "./scanner-fields.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("fields");
const organizer = "/api/v1/organizers/fields";
const seriesPath = `${organizer}/events/series`;
const from = "2027-06-01T10:00:00Z";
const key = "LS0tLS1CRUdJTi4uLg==";
const secret = "a/b?c#d%e+é";

const series = (kind: string, data: object) => ofEvent(kind, { ...data }, "series");
const order = (code: string, id: number, position: object) =>
  ofEvent("order", orderData({ code, checkin_text: "Greet", positions: [positionData({ id, ...position })] }));

const records = [
  ...groundwork(),
  ofEvent("event", {
    ...{ slug: "sampleconf", name: { en: "Conference" }, date_from: from, live: true, timezone: "Europe/Berlin" },
    ...{ seat_category_mapping: { stalls: 1 }, valid_keys: { pretix_sig1: [key] } },
  }),
  series("event", { slug: "series", name: { en: "Series" }, date_from: from, live: true, has_subevents: true }),
  series("item", itemData({ id: 8 })),
  series("subevent", {
    id: 5,
    name: { en: "First night" },
    date_from: from,
    item_price_overrides: [{ item: 8, price: "5.00" }],
  }),
  ofEvent(
    "item",
    itemData({ id: 3, checkin_text: "Wristband", checkin_attention: true, limit_sales_channels: ["web"] }),
  ),
  // Neither has anything that a record may leave out.
  ofEvent("item", { id: 4, name: { en: "Bare" } }),
  series("subevent", { id: 6, name: { en: "Bare" }, date_from: from }),
  ofEvent("question", {
    ...{ id: 7, question: { en: "Food" }, type: "C", items: [3], required: true, ask_during_checkin: true },
    options: [{ id: 71, answer: { en: "Vegan" } }],
  }),
  ofEvent("question", { id: 9, question: { en: "Name" }, type: "S", items: [1], ask_during_checkin: true }),
  ofEvent("checkin_list", listData({ id: 4, name: "Gate", all_products: true })),
  ofEvent("checkin_list", listData({ id: 6, name: "Upgrades", all_products: false, limit_products: [2] })),
  ofEvent("revoked_secret", { id: 1, secret: "old-code" }),
  ofEvent("blocked_secret", { id: 1, secret: "bad-code" }),
  ofEvent("seat", {
    id: 1,
    seat_guid: "A-1",
    name: "Row A, seat 1",
    seat_number: "1",
    row_name: "A",
    zone_name: "",
    product: 1,
  }),
  order("AAAAA", 1, { secret, item: 2, variation: 21, attendee_name: null, attendee_name_parts: {} }),
  order("BBBBB", 2, { secret: "seated", item: 1, seat: "A-1", answers: [{ question: 9, answer: "Ada" }] }),
  order("CCCCC", 3, { secret: "asked", item: 3 }),
  ofOrganizer("reusable_medium", {
    ...{ id: 1, type: "nfc_uid", identifier: "04AB" },
    linked_orderpositions: [{ id: 1, event: "sampleconf" }],
  }),
  ofOrganizer("reusable_medium", { id: 2, type: "nfc_uid", identifier: "04AC" }),
  ofOrganizer("reusable_medium", { id: 3, type: "nfc_uid", identifier: "04AD", linked_orderposition: 2 }),
];

describe("every field that a scanner needs", () => {
  let platform: TestPlatform;
  let device: string;

  beforeAll(async () => {
    platform = await startTestPlatform();
    expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(() => platform.stop());

  const ask = (path: string, method = "GET", body?: unknown, headers = {}): Promise<Answer> =>
    platform.request(method, path, { as: device, headers, ...(body === undefined ? {} : { body }) });

  const redeem = (code: string, { list = 4, force = false, query = "?expand=answers.question" } = {}) =>
    ask(`${eventPath}/checkinlists/${list}/positions/${encodeURIComponent(code)}/redeem/${query}`, "POST", {
      ...{ type: "entry", nonce: `${code}${list}${force}`, force, ignore_unpaid: false, answers: {} },
      ...{ questions_supported: true, source_type: "barcode", canceled_supported: true, use_order_locale: true },
    });

  const expectFields = (need: keyof typeof needs, { status, body }: Answer, expected = 200) => {
    expect([status, needs[need](body, need)]).toEqual([expected, []]);
    return body;
  };

  it("[E2.12] is in the answers that set it up", async () => {
    const created = await platform.request("POST", `${organizer}/devices/`, {
      as: `Token ${platform.operatorKey}`,
      body: { name: "North", gate: 7, security_profile: "pretixscan", all_events: true },
    });
    const said = {
      ...{ hardware_brand: "Samsung", hardware_model: "G525F", os_name: "Android", os_version: "13" },
      ...{ software_brand: "pretixSCAN Android", software_version: "2.3.1" },
    };
    const token = created.body.initialization_token;
    const initialized = await platform.request("POST", "/api/v1/device/initialize", { body: { token, ...said } });
    platform.keepOutOfLogs(token, created.body.token, initialized.body.api_token);
    device = `Device ${expectFields("initialized", initialized).api_token}`;
    expectFields("updated", await ask("/api/v1/device/update", "POST", { ...said, info: {}, rsa_pubkey: null }));
    expectFields("info", await ask("/api/v1/device/info"));
    expect(initialized.body.gate).toEqual({ id: 7, name: "West" });
  });

  it.each([
    ["events", `${organizer}/events/?ends_after=2027-01-01T00:00:00.000Z&ordering=date_from&live=true`],
    [
      "dates",
      `${organizer}/subevents/?ends_after=2027-01-01T00:00:00.000Z&ordering=date_from&active=true&event__live=true`,
    ],
    ["dates", `${seriesPath}/subevents/`],
    ["date", `${seriesPath}/subevents/5/`],
    ["date", `${seriesPath}/subevents/6/`],
    ["event", `${eventPath}/`],
    ["event", `${seriesPath}/`],
    ["categories", `${eventPath}/categories/`],
    ["items", `${eventPath}/items/`],
    ["questions", `${eventPath}/questions/`],
    ["badges", `${eventPath}/badgelayouts/`],
    ["badges", `${eventPath}/badgeitems/`],
    ["lists", `${eventPath}/checkinlists/?exclude=checkin_count&exclude=position_count&subevent_match=5`],
    ["countedLists", `${eventPath}/checkinlists/?ordering=datetime`],
    ["revoked", `${eventPath}/revokedsecrets/`],
    ["blocked", `${eventPath}/blockedsecrets/`],
    ["media", `${organizer}/reusablemedia/`],
    ["settings", `${eventPath}/settings/`],
    ["gates", `${organizer}/gates/`],
    ["status", `${eventPath}/checkinlists/4/status/`],
  ] as const)("[E1.3, E2.12] is among its %s: %s", async (need, path) => {
    const answer = await ask(path);
    expectFields(need, answer);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
  });

  it("[E2.7] is in media with the ids of their tickets, also where they have none", async () => {
    const { results } = (await ask(`${organizer}/reusablemedia/`)).body;
    const links = results.map((medium: Record<string, unknown>) => [
      medium["linked_orderposition"],
      medium["linked_orderpositions"],
    ]);
    expect(links).toEqual([
      [1, [1]],
      [null, []],
      [2, [2]],
    ]);
  });

  it("[E2.5, E2.12] is on every page of what it reads, with the address of the next one", async () => {
    for (const name of ["categories", "items", "questions", "checkinlists", "revokedsecrets", "badgelayouts"]) {
      const first = (await ask(`${eventPath}/${name}/?page_size=1&exclude=checkin_count`)).body;
      expect(first.count, name).toEqual(expect.any(Number));
      if (first.count < 2) continue;
      expect(first.next, name).toMatch(/exclude=checkin_count/);
      const second = (await ask(new URL(first.next).pathname + new URL(first.next).search)).body;
      expect([name, second.count]).toEqual([name, first.count]);
    }
  });

  it("[E1.9, E2.12] comes with the header to ask for changes with", async () => {
    for (const path of [`${organizer}/subevents/`, `${organizer}/reusablemedia/`, `${eventPath}/revokedsecrets/`])
      expect((await ask(path)).headers.get("x-page-generated"), path).toMatch(/^\d{4}-.*Z$/);
  });

  it("[E1.10, E2.9] need not be read again where nothing has changed, and is after a change", async () => {
    const names = ["categories", "items", "questions", "checkinlists"];
    const since = async (name: string) => (await ask(`${eventPath}/${name}/`)).headers.get("last-modified");
    for (const name of names) await expect.poll(() => since(name)).toMatch(/ GMT$/);
    const known = new Map(await Promise.all(names.map(async (name) => [name, await since(name)] as const)));
    const again = async (name: string, date = known.get(name) ?? "") =>
      (await ask(`${eventPath}/${name}/?page=1`, "GET", undefined, { "if-modified-since": date })).status;
    for (const name of names) {
      expect([name, await again(name)]).toEqual([name, 304]);
      expect([name, await again(name, "Sat Nov 21 12:00:00 UTC 2099")]).toEqual([name, 200]);
    }
    await platform.import([
      ofEvent("category", { id: 1, name: { en: "Renamed" } }),
      { ...ofEvent("item", { id: 4 }), deleted: true },
      ofEvent("question", { id: 9, question: { en: "Full name" }, type: "S", items: [1], ask_during_checkin: true }),
      ofEvent("checkin_list", listData({ id: 6, name: "Upstairs", all_products: false, limit_products: [2] })),
    ]);
    for (const name of names) expect([name, await again(name)]).toEqual([name, 200]);
  });

  it("[E2.12] is in the answer to a scan that admits", async () => {
    const query = "?pdf_data=true&expand=answers.question";
    expectFields("admitted", await redeem(secret, { query }), 201);
    const seated = expectFields("admitted", await redeem("seated", { query }), 201);
    expect(seated.position).toMatchObject({ seat: { name: expect.any(String) }, answers: [{ question: { id: 9 } }] });
    expect(seated.position.checkins).toHaveLength(1);
  });

  it("[E2.12] is in the answer to a scan that does not", async () => {
    expect(
      expectFields("refused", await redeem(secret, { list: 6, query: "" }).then(() => redeem("seated", { list: 6 }))),
    ).toMatchObject({
      reason: "product",
    });
    expectFields("unknown", await redeem("no-such-code"), 404);
    expect(expectFields("incomplete", await redeem("asked"), 400).questions).toHaveLength(1);
    // An offline scan that is refused ends with 400: answered by 200 it would come again at every synchronization.
    expect(await redeem("old-code", { force: true })).toMatchObject({ status: 400, body: { reason: "revoked" } });
    const missing = await ask(`${eventPath}/checkinlists/99/positions/x/redeem/`, "POST", { type: "entry" });
    expect([missing.status, typeof missing.body]).toEqual([404, "object"]);
  });

  it("[E2.12] is in what a search finds", async () => {
    const found = expectFields(
      "found",
      await ask(`${eventPath}/checkinlists/4/positions/?search=AAAAA&ignore_status=true`),
    );
    expect(found.results[0].checkins).toHaveLength(1);
    expectFields("status", await ask(`${eventPath}/checkinlists/4/status/`));
  });

  it("[E2.12, E6.1] is in the answers of scans that name lists alone", async () => {
    const scan = async (body: object) =>
      ask(`${organizer}/checkinrpc/redeem/?expand=answers.question&pdf_data=true`, "POST", {
        ...{ lists: [4], type: "entry", force: false, ignore_unpaid: false, answers: {}, source_type: "barcode" },
        ...{ questions_supported: true, canceled_supported: true, use_order_locale: true, ...body },
      });
    expectFields("admitted", await scan({ secret, type: "exit", nonce: "out" }), 201);
    expectFields("refused", await scan({ secret: "seated", nonce: "again" }), 400);
    expectFields("incomplete", await scan({ secret: "asked", nonce: "asked" }), 400);
    expectFields("unknown", await scan({ secret: "no-such-code", nonce: "none" }), 404);
    const found = await ask(`${organizer}/checkinrpc/search/?list=4&search=AAAAA&ignore_status=true&page=1`);
    expect(expectFields("found", found).results[0]).toMatchObject({ require_attention: false });
  });

  it("[E4.11] is in scans, searches and orders with what it has printed", async () => {
    const said = { source: "pretixPRINT", type: "badge", info: { printer: "Zebra" } };
    const printed = await ask(`${eventPath}/orderpositions/2/printlog/`, "POST", said);
    expect([printed.status, printed.body]).toEqual([201, expect.objectContaining(said)]);
    const logs = async () => {
      const scanned = (await redeem("seated")).body.position;
      const [found] = (await ask(`${eventPath}/checkinlists/4/positions/?search=BBBBB`)).body.results;
      const [ordered] = (await ask(`${eventPath}/orders/BBBBB/`)).body.positions;
      return [scanned, found, ordered].map(({ print_logs }) => print_logs);
    };
    // Another gateway asks for prints again after ten seconds.
    await expect.poll(logs).toEqual([[printed.body], [printed.body], [printed.body]]);
  });

  it("[E2.12] is in the answers to what it sends of its own", async () => {
    const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
    const named = { "content-type": "image/gif", "content-disposition": 'attachment; filename="answer.gif"' };
    expectFields("uploaded", await ask("/api/v1/upload", "POST", gif, named), 201);
    const failed = await ask(
      `${eventPath}/checkinlists/4/failed_checkins/`,
      "POST",
      {
        ...{ error_reason: "unapproved", raw_barcode: "binary:AAEC", datetime: from, type: "entry", position: 1 },
        ...{ item: 2, variation: 21, subevent: null, nonce: "failed1" },
      },
      { "x-idempotency-key": "failed1" },
    );
    expect(failed.status).toBe(201);
  });
});

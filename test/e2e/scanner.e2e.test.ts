import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { scannerNeeds } from "./scanner-fields.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("scanners");
const organizer = "/api/v1/organizers/scanners";

describe("a scanner", () => {
  let platform: TestPlatform;
  let device: string;

  beforeAll(async () => {
    platform = await startTestPlatform();
    const { rejected } = await platform.import(
      [
        ...groundwork(),
        ofEvent("event", {
          slug: "series",
          name: { en: "Series" },
          date_from: "2027-06-01T10:00:00Z",
          live: true,
          has_subevents: true,
        }),
        {
          ...ofEvent("subevent", { id: 5, name: { en: "First night" }, date_from: "2027-06-01T10:00:00Z" }),
          event: "series",
        },
        ofEvent("question", {
          ...{ id: 7, question: { en: "Food" }, type: "C", items: [1], ask_during_checkin: true },
          options: [{ id: 71, answer: { en: "Vegan" } }],
        }),
        ofEvent("checkin_list", listData({ id: 4, name: "Gate", all_products: true })),
        ofEvent("revoked_secret", { id: 1, secret: "old-code" }),
        ofEvent("blocked_secret", { id: 1, secret: "bad-code" }),
        ofEvent(
          "order",
          orderData({
            code: "AAAAA",
            positions: [positionData({ id: 1, secret: "a/b?c#d%e+é", item: 2, variation: 21 })],
          }),
        ),
        ofOrganizer("reusable_medium", {
          id: 1,
          type: "nfc_uid",
          identifier: "04AB",
          linked_orderpositions: [{ id: 1, event: "sampleconf" }],
        }),
      ].map((record) =>
        (record as { data: { slug?: string } }).data.slug === "series"
          ? { ...(record as object), event: "series" }
          : record,
      ),
    );
    expect(rejected).toBe(0);
  });
  afterAll(() => platform.stop());

  const ask = (path: string, method = "GET", body?: object): Promise<Answer> =>
    platform.request(method, path, { as: device, ...(body === undefined ? {} : { body }) });

  const said = {
    hardware_brand: "Samsung",
    hardware_model: "G525F",
    os_name: "Android",
    os_version: "13",
    software_brand: "pretixSCAN Android",
    software_version: "2.3.1",
  };

  it("[E3.1, E3.2, E3.11] is set up by a QR code, which works once", async () => {
    const created = await platform.request("POST", `${organizer}/devices/`, {
      as: `Token ${platform.operatorKey}`,
      body: { name: "North", gate: 7, security_profile: "pretixscan", all_events: true },
    });
    const { url, token, handshake_version } = JSON.parse(created.body.setup);
    expect([handshake_version, url, token]).toEqual([1, platform.publicUrl, created.body.initialization_token]);
    const initialize = () => platform.request("POST", "/api/v1/device/initialize", { body: { token, ...said } });
    const first = await initialize();
    platform.keepOutOfLogs(token, first.body.api_token, created.body.token);
    expect([first.status, first.body]).toMatchObject([
      200,
      { organizer: "scanners", security_profile: "pretixscan", gate: { id: 7, name: "West" } },
    ]);
    device = `Device ${first.body.api_token}`;
    expect(await initialize()).toMatchObject({
      status: 400,
      body: { token: [expect.stringContaining("already been used")] },
    });
    expect((await platform.request("GET", "/api/v1/device/info", { as: `Device ${created.body.token}` })).status).toBe(
      401,
    );
    expect(
      (await ask("/api/v1/device/update", "POST", { ...said, software_version: "2.4.0", info: {} })).body.name,
    ).toBe("North");
    expect((await ask("/api/v1/device/info")).body).toMatchObject({
      device: { name: "North", gate: { id: 7, name: "West" } },
      server: { version: { pretix_numeric: expect.any(Number) } },
    });
  });

  it("[E3.12] is told which event comes first, until it scans that", async () => {
    const at = "/api/v1/device/eventselection";
    const { body } = await ask(at);
    expect(body).toMatchObject({ event: { slug: "series", name: { en: "Series" } }, subevent: 5, checkinlist: null });
    expect((await ask(`${at}?current_event=series&current_subevent=5`)).status).toBe(304);
  });

  it("[E1.9] reads afterwards what is new, and nothing else", async () => {
    const { headers } = await ask(`${eventPath}/revokedsecrets/`);
    const since = encodeURIComponent(String(headers.get("x-page-generated")));
    const news = () => ask(`${eventPath}/revokedsecrets/?ordering=-created&created_since=${since}`);
    expect((await news()).body.count).toBe(0);
    await platform.import([
      ofEvent("revoked_secret", { id: 2, secret: "another-old-code", created: "2020-01-01T00:00:00Z" }),
    ]);
    expect((await news()).body).toMatchObject({ count: 1, results: [{ id: 2 }] });
  });

  it("scans and searches on a list, and sees the counts", async () => {
    const at = `${eventPath}/checkinlists/4`;
    const redeem = (nonce: string) =>
      ask(`${at}/positions/${encodeURIComponent("a/b?c#d%e+é")}/redeem/?pdf_data=true`, "POST", {
        ...{ type: "entry", nonce, force: false, ignore_unpaid: false, answers: {}, questions_supported: true },
        ...{ source_type: "barcode", canceled_supported: true, use_order_locale: true },
      });
    expect(await redeem("n1")).toMatchObject({
      status: 201,
      body: { status: "ok", position: { order: "AAAAA", positionid: 1 } },
    });
    expect((await redeem("n2")).body).toMatchObject({ status: "error", reason: "already_redeemed" });
    expect((await ask(`${at}/positions/?search=AAAAA&ignore_status=true`)).body).toMatchObject({
      results: [{ order__status: "p" }],
    });
    expect((await ask(`${at}/status/`)).body).toMatchObject({ checkin_count: 1, position_count: 1, inside_count: 1 });
  });

  it("[E6.1, E6.4, E6.7, E6.8] scans, searches and takes back by the lists of the organizer alone", async () => {
    const code = "a/b?c#d%e+é";
    const rpc = `${organizer}/checkinrpc`;
    const redeem = (body: object) =>
      ask(`${rpc}/redeem/?expand=answers.question&pdf_data=true`, "POST", {
        ...{ secret: code, lists: [4], type: "entry", force: false, ignore_unpaid: false, answers: {} },
        ...{ questions_supported: true, source_type: "barcode", canceled_supported: true, use_order_locale: true },
        ...body,
      });
    expect(await redeem({ nonce: "x1" })).toMatchObject({
      status: 400,
      body: { status: "error", reason: "already_redeemed", list: { event: "sampleconf", include_pending: false } },
    });
    const out = await redeem({ nonce: "x2", type: "exit" });
    expect(out).toMatchObject({ status: 201, body: { status: "ok", require_attention: false, checkin_texts: [] } });
    expect(scannerNeeds.admitted(out.body, "admitted")).toEqual([]);
    const upload = { type: "exit", nonce: "x2", force: true, datetime: "2027-05-01T10:00:00Z", source_type: "barcode" };
    const path = `${eventPath}/checkinlists/4/positions/${encodeURIComponent(code)}/redeem/`;
    expect((await ask(path, "POST", upload)).status).toBe(201);
    const found = await ask(`${rpc}/search/?list=4&search=AAAAA&ignore_status=true&page=1`);
    expect(found.body).toMatchObject({ count: 1, results: [{ secret: code, require_attention: false }] });
    expect(found.body.results[0].checkins).toHaveLength(2);
    expect(scannerNeeds.found(found.body, "found")).toEqual([]);
    expect((await ask(`${rpc}/annul/`, "POST", { lists: [4], nonce: "x2" })).body).toEqual({ status: "ok" });
    expect((await ask(`${eventPath}/checkinlists/4/status/`)).body).toMatchObject({ inside_count: 1 });
    expect(await redeem({ secret: "none", nonce: "x3" })).toMatchObject({ status: 404, body: { reason: "invalid" } });
    const wrong = await redeem({ lists: [99], nonce: "x4" });
    expect([wrong.status, Object.keys(wrong.body)]).toEqual([400, ["lists"]]);
  });

  it("[E7.1, E7.4, E7.5] is told why a scan would be refused, and the scan is not made", async () => {
    const simulated = await ask(`${organizer}/checkinrpc/redeem/`, "POST", {
      ...{ secret: "a/b?c#d%e+é", lists: [4], type: "exit", simulate: true },
    });
    expect(simulated).toMatchObject({ status: 201, body: { status: "ok", explanation: { admitted_at: null } } });
    const explained = await ask(`${eventPath}/checkinlists/4/positions/${encodeURIComponent("a/b?c#d%e+é")}/explain/`);
    expect(explained).toMatchObject({ status: 200, body: { reason: "already_redeemed" } });
    expect(explained.body.explanation.steps.at(-2)).toMatchObject({
      ...{ step: "entries", passed: false, value: { entries: 1, last: { type: "entry" } } },
    });
    expect((await ask(`${eventPath}/checkinlists/4/status/`)).body).toMatchObject({ inside_count: 1 });
  });

  it("[E8.1, E8.3, E8.5, E8.6] exchanges a ticket for a wristband, which is scanned from then on", async () => {
    const { rejected } = await platform.import([
      ofEvent("item", { id: 9, name: { en: "Festival pass" }, media_policy: "new", media_type: "nfc_uid" }),
      ofEvent("event_settings", { reusable_media_usage_enforced: true }),
      ofEvent("order", orderData({ code: "WRIST", positions: [positionData({ id: 9, secret: "pass-9", item: 9 })] })),
    ]);
    expect(rejected).toBe(0);
    const redeem = (body: object) =>
      ask(`${organizer}/checkinrpc/redeem/`, "POST", {
        ...{ secret: "pass-9", lists: [4], type: "entry", source_type: "barcode", ...body },
      });
    const band = { exchange_medium_type: "nfc_uid", exchange_medium_identifier: "04C0FFEE" };
    await expect.poll(async () => (await redeem({ simulate: true })).body.status).toBe("exchange");
    await expect.poll(async () => (await ask(`${eventPath}/settings/`)).body.reusable_media_usage_enforced).toBe(true);
    const asked = await redeem({ nonce: "band-1" });
    expect(asked).toMatchObject({
      status: 400,
      body: { status: "exchange", reason: "exchange", media_policy: "new", media_type: "nfc_uid" },
    });
    expect(scannerNeeds.exchange(asked.body, "exchange")).toEqual([]);
    expect((await redeem({ nonce: "band-2", ...band, exchange_medium_identifier: "04AB" })).body.reason).toBe(
      "medium_exists",
    );
    const admitted = await redeem({ nonce: "band-3", ...band });
    expect(admitted).toMatchObject({ status: 201, body: { status: "ok", position: { id: 9 } } });
    expect((await redeem({ nonce: "band-3", ...band })).status).toBe(201);
    const found = { count: 1, results: [{ type: "nfc_uid", active: true, linked_orderpositions: [9] }] };
    expect((await ask(`${organizer}/reusablemedia/?identifier=04C0FFEE`)).body).toMatchObject(found);
    const byBand = (nonce: string) => redeem({ nonce, secret: "04C0FFEE", source_type: "nfc_uid" });
    await expect.poll(async () => (await byBand(`in-${Date.now()}`)).body.reason).toBe("already_redeemed");
    expect((await redeem({ nonce: "band-4" })).body).toMatchObject({ status: "error", reason: "already_exchanged" });
    expect(await redeem({ nonce: "out", secret: "04C0FFEE", source_type: "nfc_uid", type: "exit" })).toMatchObject({
      status: 201,
    });
    expect((await byBand("again")).status).toBe(201);
  });

  it("[E3.9] deletes its data when its access has ended", async () => {
    expect((await ask("/api/v1/device/revoke", "POST", {})).status).toBe(200);
    await expect
      .poll(async () => (await ask("/api/v1/device/info")).body)
      .toEqual({ detail: "Device access has been revoked." });
  });
});

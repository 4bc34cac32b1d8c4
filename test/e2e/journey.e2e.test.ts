import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindOverSockets } from "./run-platform.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const organizer = "journeys";
const { apiKey, deviceKey, eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf(organizer);

describe("from record to gate", () => {
  let platform: TestPlatform;
  const token = `Token ${apiKey}`;
  const device = `Device ${deviceKey}`;

  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    platform.keepOutOfLogs(
      apiKey,
      deviceKey,
      "Zwiebelhuber",
      "zwiebelhuber",
      "z3fsn8jyufm5kpk768q69gkbyr5f4h6w",
      "secret-of-the-pending-one",
      "revoked-long-ago",
      "blocked-long-ago",
      "wristband-1",
      "Ærøskøbing",
    );
    const answer = await platform.import([
      ...groundwork(),
      ofEvent("question", {
        id: 1,
        question: { en: "Diet?" },
        type: "C",
        items: [1],
        options: [{ id: 5, answer: {} }],
      }),
      ofEvent("seat", { id: 1, seat_guid: "A-1", product: 1 }),
      ofEvent(
        "order",
        orderData({
          positions: [positionData({ seat: "A-1", answers: [{ question: 1, answer: "None", options: [5] }] })],
        }),
      ),
      ofEvent("revoked_secret", { id: 1, secret: "revoked-long-ago", created: "2027-12-02T10:00:00Z", position: 1001 }),
      ofEvent("blocked_secret", { id: 1, secret: "blocked-long-ago", updated: "2027-12-02T10:00:00Z" }),
      ofOrganizer("reusable_medium", {
        id: 1,
        type: "barcode",
        identifier: "wristband-1",
        linked_orderpositions: [1001],
      }),
      ofEvent(
        "order",
        orderData({
          code: "PEND1",
          status: "n",
          positions: [positionData({ id: 1002, secret: "secret-of-the-pending-one", attendee_name: "Ærøskøbing" })],
        }),
      ),
      ofEvent(
        "order",
        orderData({
          code: "GONE1",
          status: "c",
          positions: [positionData({ id: 1003, secret: "secret-of-a-canceled-one" })],
        }),
      ),
      ofEvent(
        "order",
        orderData({
          code: "SHIRT",
          positions: [positionData({ id: 1004, item: 2, variation: 21, secret: "a/b c+d?e#ü&=%2F" })],
        }),
      ),
      ofEvent("checkin_list", listData()),
      ofEvent("checkin_list", listData({ id: 2, name: "Tickets only", all_products: false, limit_products: [1] })),
    ]);
    expect(answer).toMatchObject({ rejected: 0, errors: [], settled: true, records: 22, accepted: 22 });
  });
  afterAll(() => platform.stop());

  const redeem = (lookup: string, body: unknown = {}, { list = 1, as = device, query = "" } = {}) =>
    platform.request(
      "POST",
      `${eventPath}/checkinlists/${list}/positions/${encodeURIComponent(lookup)}/redeem/${query}`,
      { as, body },
    );

  it("admits once, counts, and refuses the second scan", async () => {
    const before = await platform.request("GET", `${eventPath}/checkinlists/1/status/`, { as: token });
    expect(before.body).toMatchObject({
      checkin_count: 0,
      position_count: 2,
      inside_count: 0,
      event: { name: "Sample Conference" },
    });

    const first = await redeem("z3fsn8jyufm5kpk768q69gkbyr5f4h6w");
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      status: "ok",
      require_attention: false,
      checkin_texts: [],
      list: { id: 1, name: "Default list", event: "sampleconf", subevent: null, include_pending: false },
    });
    expect(first.body.position).toMatchObject({
      id: 1001,
      order: "ABC12",
      item: 1,
      attendee_name: "Peter Zwiebelhuber",
      secret: "z3fsn8jyufm5kpk768q69gkbyr5f4h6w",
    });
    expect(first.body.position.checkins).toHaveLength(1);
    expect(first.body.position.checkins[0]).toMatchObject({
      list: 1,
      type: "entry",
      gate: 7,
      device_id: 3,
      auto_checked_in: false,
    });

    const second = await redeem("z3fsn8jyufm5kpk768q69gkbyr5f4h6w");
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ status: "error", reason: "already_redeemed" });
    const forced = await redeem("z3fsn8jyufm5kpk768q69gkbyr5f4h6w", { force: true });
    expect(forced.status).toBe(201);

    const after = await platform.request("GET", `${eventPath}/checkinlists/1/status/`, { as: token });
    expect(after.body).toMatchObject({ checkin_count: 1, position_count: 2, inside_count: 1 });
    expect(after.body.items).toMatchObject([
      { id: 1, name: "Standard ticket", checkin_count: 1, position_count: 1, admission: true, variations: [] },
      {
        id: 2,
        name: "T-shirt",
        checkin_count: 0,
        position_count: 1,
        admission: false,
        variations: [
          { id: 21, value: "S", position_count: 1 },
          { id: 22, position_count: 0 },
        ],
      },
    ]);
  });

  it("admits again after an exit, and counts the visitors inside", async () => {
    expect((await redeem("z3fsn8jyufm5kpk768q69gkbyr5f4h6w", { type: "exit" })).status).toBe(201);
    const status = () => platform.request("GET", `${eventPath}/checkinlists/1/status/`, { as: token });
    expect((await status()).body).toMatchObject({ checkin_count: 1, inside_count: 0 });
    expect((await redeem("z3fsn8jyufm5kpk768q69gkbyr5f4h6w")).status).toBe(201);
    expect((await status()).body).toMatchObject({ checkin_count: 1, inside_count: 1 });
  });

  it.each([
    ["an unknown code", "no-such-code", {}, 404, "invalid"],
    ["an unpaid order", "secret-of-the-pending-one", {}, 200, "unpaid"],
    ["a canceled order, forced offline upload", "secret-of-a-canceled-one", { force: true }, 201, undefined],
    ["a canceled order, legacy client", "secret-of-a-canceled-one", {}, 200, "unpaid"],
    ["a canceled order", "secret-of-a-canceled-one", { canceled_supported: true }, 200, "canceled"],
  ] as const)("answers %s", async (_name, lookup, body, status, reason) => {
    const answer = await redeem(lookup, body);
    expect(answer.status).toBe(status);
    expect(answer.body.reason).toBe(reason);
  });

  it("refuses a product that is not on the list", async () => {
    const answer = await redeem("a/b c+d?e#ü&=%2F", {}, { list: 2 });
    expect(answer.body).toMatchObject({ status: "error", reason: "product" });
  });

  it("reads percent-encoded secrets exactly", async () => {
    const answer = await redeem("a/b c+d?e#ü&=%2F");
    expect(answer.status).toBe(201);
    expect(answer.body.position.id).toBe(1004);
  });

  it("succeeds again with the same nonce and stores it once", async () => {
    const first = await redeem("1002", { ignore_unpaid: true, force: true, nonce: "n-1" });
    const again = await Promise.all(Array.from({ length: 20 }, () => redeem("1002", { nonce: "n-1" })));
    expect([first.status, ...again.map((answer) => answer.status)]).toEqual(Array.from({ length: 21 }, () => 201));
    const position = await platform.request("GET", `${eventPath}/checkinlists/1/positions/1002/?ignore_status=true`, {
      as: token,
    });
    expect(position.body.checkins).toHaveLength(1);
  });

  it("reads an id only from trusted input", async () => {
    expect((await redeem("1001", { type: "exit" })).status).toBe(201);
    expect((await redeem("1001", { type: "exit" }, { query: "?untrusted_input=true" })).status).toBe(404);
  });

  it("admits exactly one of twenty simultaneous scans", async () => {
    await platform.import([
      ofEvent("order", orderData({ code: "TWENT", positions: [positionData({ id: 1005, secret: "twenty-at-once" })] })),
    ]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem("twenty-at-once")));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.body.reason === "already_redeemed")).toHaveLength(19);
  });

  it("finds positions by search and order, page by page", async () => {
    const positions = (query: string) =>
      platform.request("GET", `${eventPath}/checkinlists/1/positions/?${query}`, { as: token });
    expect((await positions("search=zwiebel&ignore_status=true")).body.results.length).toBeGreaterThan(0);
    expect(
      (await positions("search=%C3%A6r%C3%B8s&ignore_status=true")).body.results.map(
        (found: { id: number }) => found.id,
      ),
    ).toEqual([1002]);
    expect((await positions("order=shirt")).body).toMatchObject({ count: 1, next: null, previous: null });
    const page = (await positions("page_size=1&ordering=positionid")).body;
    expect(page.count).toBe(3);
    expect(page.next).toBe(
      `${platform.publicUrl}${eventPath}/checkinlists/1/positions/?ordering=positionid&page=2&page_size=1`,
    );
    expect((await positions("page=99")).status).toBe(404);
  });

  it("[A4.20, A4.21, A4.29] creates, changes, replaces and deletes lists", async () => {
    const path = `${eventPath}/checkinlists/`;
    const created = await platform.request("POST", path, {
      as: token,
      body: { name: "VIP", all_products: false, limit_products: [2], include_pending: true },
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      name: "VIP",
      limit_products: [2],
      include_pending: true,
      allow_entry_after_exit: true,
      rules: {},
      position_count: 1,
      checkin_count: 0,
    });
    const { id } = created.body;
    expect(id).toBeGreaterThan(2);
    const changed = await platform.request("PATCH", `${path}${id}/`, { as: token, body: { name: "VIP lounge" } });
    expect(changed.body).toMatchObject({ name: "VIP lounge", include_pending: true });
    const replaced = await platform.request("PUT", `${path}${id}/`, { as: token, body: { name: "Plain" } });
    expect(replaced.body).toMatchObject({
      name: "Plain",
      all_products: true,
      limit_products: [],
      include_pending: false,
    });
    expect((await platform.request("PUT", `${path}${id}/`, { as: token, body: {} })).body).toEqual({
      name: [expect.any(String)],
    });
    const wrong = await platform.request("POST", path, {
      as: token,
      body: { name: "", limit_products: [99], all_products: "maybe", exit_all_at: "soon" },
    });
    expect(wrong.status).toBe(400);
    // What it refers to is looked up where all of it can be read.
    expect(Object.keys(wrong.body).sort()).toEqual(["all_products", "exit_all_at", "name"]);
    expect(
      (await platform.request("POST", path, { as: token, body: { name: "x", limit_products: [99] } })).body,
    ).toHaveProperty("limit_products");
    expect((await platform.request("POST", path, { as: token, body: { name: "x", rules: { "!": [] } } })).body).toEqual(
      { non_field_errors: [expect.stringContaining('"!"')] },
    );
    expect((await platform.request("DELETE", `${eventPath}/checkinlist/${id}/`, { as: token })).status).toBe(204);
    expect((await platform.request("GET", `${path}${id}/`, { as: token })).status).toBe(404);
  });

  it("refuses changes of lists by a device, and everything by an unknown key", async () => {
    expect(
      (await platform.request("POST", `${eventPath}/checkinlists/`, { as: device, body: { name: "x" } })).status,
    ).toBe(403);
    expect((await platform.request("GET", `${eventPath}/checkinlists/`, { as: "Token nobody" })).status).toBe(401);
    expect((await platform.request("GET", `${eventPath}/checkinlists/`)).status).toBe(401);
    expect(
      (await platform.request("GET", `/api/v1/organizers/${organizer}/events/other/checkinlists/`, { as: token }))
        .status,
    ).toBe(403);
    expect(
      (await platform.request("GET", "/api/v1/organizers/nobody/events/other/checkinlists/", { as: token })).status,
    ).toBe(403);
  });

  it("[R3.51, R5.1, R7.5] accepts a repeated record without a change, and applies a change at once", async () => {
    const same = await platform.import([ofEvent("order", orderData())]);
    expect(same).toMatchObject({ accepted: 1, settled: true });
    const changed = await platform.import([
      ofEvent("order", orderData({ code: "TWENT", positions: [positionData({ id: 1005, secret: "a-new-secret" })] })),
    ]);
    expect(changed.settled).toBe(true);
    expect((await redeem("twenty-at-once")).status).toBe(404);
    expect((await redeem("a-new-secret")).body).toMatchObject({ reason: "already_redeemed" });
  });

  it("[R7.1, R7.5] imports docs/example.ndjson whole, and opens the gate to its ticket", async () => {
    const lines = await readFile(new URL("../../docs/example.ndjson", import.meta.url));
    const answer = await platform.request("POST", "/api/v1/import/", {
      as: `Token ${platform.operatorKey}`,
      body: lines,
      headers: { "content-type": "application/x-ndjson" },
    });
    const count = lines.toString().trimEnd().split("\n").length;
    expect(answer.body).toMatchObject({ records: count, accepted: count, rejected: 0, errors: [], ignored: [] });
    expect(answer.body).toMatchObject({ settled: true, overbooked: [], ambiguous_secrets: [] });
    const path = "/api/v1/organizers/example/events/sampleconf/checkinlists/1/positions";
    for (const as of ["Token example-api-key-0c9f2b7e41", "Device example-device-key-5d41c8a7"]) {
      const found = await platform.request("GET", `${path}/?search=ABC12`, { as });
      expect(found.body.results).toMatchObject([{ order: "ABC12", attendee_name: "Jo Example" }]);
    }
    const scan = await platform.request("POST", `${path}/example-ticket-jo-7k2m9p/redeem/`, {
      as: "Device example-device-key-5d41c8a7",
      body: {},
    });
    expect(scan).toMatchObject({ status: 201, body: { status: "ok" } });
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashRowsOf, openAllSchemas } from "../security/hash-rows.ts";
import { eventData, itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("mistaken");
describe("bad records", () => {
  let platform: TestPlatform;
  const ndjson = { "content-type": "application/x-ndjson" };

  beforeAll(async () => {
    platform = await startTestPlatform();
    platform.keepOutOfLogs("do-not-log-this", "Zwiebelhuber");
    await platform.import(groundwork());
  });
  afterAll(() => platform.stop());

  it("[R2.17, R2.19] opens the gate to paid tickets, however doubtful what stands around them", async () => {
    const kinds = [
      ofEvent("tax_rule", { id: 40, name: "VAT", rate: "8.875", home_country: "Germany" }),
      ofEvent("category", { id: 40, name: { en: "Odd" }, position: "first" }),
      ofEvent(
        "item",
        itemData({ id: 40, tax_rule: 999, category: 40, picture: 5.5, tax_rate: "19.0000", meta_data: [] }),
      ),
      ofEvent("question", {
        ...{ id: 40, question: { en: "How many?" }, type: "N", items: [40, 4040], ask_during_checkin: true },
        ...{ valid_number_min: "1.000000", valid_number_max: "0.000000", identifier: "COUNT" },
      }),
      ofEvent("question", {
        ...{ id: 41, question: { en: "Which?" }, type: "S", items: [40], dependency_question: 40 },
        dependency_values: ["3"],
      }),
      ofEvent("quota", { id: 40, size: 10, items: [40], variations: [21] }),
    ];
    const doubtful = {
      ...{ item: 40, country: "Germany", tax_rate: "9.975", tax_rule: 4040, voucher_budget_use: "much" },
      ...{ variation: 4040, seat: "no-such-seat", attendee_email: ["none"], price: "23.00001" },
      checkins: [{ id: 1 }],
      answers: [
        { question: 40, answer: "2" },
        { question: 41, answer: "x".repeat(70_000) },
        { question: 4141, answer: "?" },
      ],
    };
    const answer = await platform.import([
      ...kinds,
      ofEvent(
        "order",
        orderData({
          ...{ code: "DOUBT", sales_channel: "moon", datetime: "lately", total: "a lot", fees: [{ tax_rate: "x" }, 7] },
          invoice_address: { country: "Germany", vat_id: ["?"] },
          positions: [
            positionData({ id: 5301, secret: "doubtful-1", ...doubtful }),
            positionData({ id: 5302, positionid: 1, secret: "doubtful-2", addon_to: 99, ...doubtful }),
            positionData({ id: 5303, positionid: 3, secret: 5.5, item: 40 }),
          ],
        }),
      ),
      ofEvent("checkin_list", listData({ id: 40, exit_all_at: "midnight", name: "" })),
    ]);
    expect(answer).toMatchObject({ accepted: 8, rejected: 0, errors: [], settled: true, warned: 8 });
    for (const secret of ["doubtful-1", "doubtful-2"]) {
      const scan = await platform.request("POST", `${eventPath}/checkinlists/40/positions/${secret}/redeem/`, {
        as: `Token ${apiKey}`,
        body: {},
      });
      expect(scan).toMatchObject({ status: 201, body: { status: "ok", position: { tax_rate: "9.975" } } });
    }
  });

  it("[R8.1, R8.2] accepts orders above a quota, and reports them", async () => {
    const quota = ofEvent("quota", { id: 90, size: 1, items: [1] });
    const positions = [1, 2].map((number) =>
      positionData({ id: 5200 + number, positionid: number, secret: `crowded-${number}` }),
    );
    const answer = await platform.import([quota, ofEvent("order", orderData({ code: "CROWD", positions }))]);
    expect(answer).toMatchObject({ accepted: 2, settled: true });
    expect(answer.overbooked).toEqual([
      { organizer: "mistaken", event: "sampleconf", quota: 90, size: 1, taken: expect.any(Number) },
    ]);
    const removed = await platform.import([{ ...ofEvent("quota", { id: 90 }), deleted: true }]);
    expect(removed.overbooked).toEqual([]);
  });

  it("[R7.19, R7.20] says of records what an import of them says, and stores nothing", async () => {
    const body = toRehearse().map((record) => JSON.stringify(record));
    // More than a batch of others comes between, so that what is referred to came before.
    for (const [part, place] of [20, 33, 43].entries()) {
      const others = Array.from({ length: 500 }, (_, at) => itemData({ id: 1000 * (part + 1) + at }));
      body.splice(place + 500 * part, 0, ...others.map((data) => JSON.stringify(rehearsed.ofEvent("item", data))));
    }
    body.push("{");
    const send = (query: string) =>
      platform.request("POST", `/api/v1/import/${query}`, {
        as: `Token ${platform.operatorKey}`,
        body: body.join("\n"),
        headers: ndjson,
      });
    const db = openAllSchemas(platform.databaseUrl);
    try {
      const before = await hashRowsOf(db, "rehearsed");
      const validated = await send("?validate=true");
      expect(await hashRowsOf(db, "rehearsed")).toEqual(before);
      const imported = await send("");
      expect(validated).toMatchObject({
        status: 200,
        body: { settled: false, overbooked: null, ambiguous_secrets: null },
      });
      expect(JSON.stringify(validated.body)).not.toContain("do-not-log-this");
      const { settled: _s, overbooked: _o, ambiguous_secrets: _a, ...said } = validated.body;
      expect(imported).toMatchObject({ status: 200, body: { ...said, settled: true } });
      expect(said).toMatchObject({ rejected: expect.any(Number), warned: expect.any(Number) });
      expect([said.rejected, said.warned, said.ignored.length].every((count) => count > 0)).toBe(true);
      expect(await hashRowsOf(db, "rehearsed")).not.toEqual(before);
    } finally {
      await db.close();
    }
  });

  it("[R2.13] skips a line of 100 MB in constant memory and continues", async () => {
    const last = `\n${JSON.stringify(ofEvent("order", orderData({ code: "AFTER", positions: [positionData({ id: 5200, secret: "after" })] })))}`;
    async function* stream() {
      const first = Buffer.from(`${JSON.stringify(ofEvent("item", itemData()))}\n`);
      yield first;
      for (let sent = 0; sent < 100; sent += 1) yield Buffer.alloc(1024 * 1024, "x");
      yield Buffer.from(last);
    }
    const before = process.memoryUsage().rss;
    const response = await fetch(`${platform.baseUrl}/api/v1/import/`, {
      method: "POST",
      headers: { ...ndjson, authorization: `Token ${platform.operatorKey}` },
      body: ReadableStream.from(stream()),
      duplex: "half",
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ records: 3, accepted: 2, rejected: 1, errors: [{ line: 2 }] });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });
});

const rehearsed = samplesOf("rehearsed");

/** Every kind of record that others refer to, and each of its references: known, unknown, and in contradiction with what came before. */
function toRehearse(): unknown[] {
  const { ofOrganizer, ofEvent } = rehearsed;
  const series = (kind: string, data: Record<string, unknown>) => ofEvent(kind, data, "series");
  const order = (code: string, positions: readonly object[], more: object = {}) =>
    ofEvent("order", orderData({ code, positions, ...more }));
  return [
    ...rehearsed.groundwork(),
    ofOrganizer("sales_channel", { identifier: "box", label: "Box office" }),
    ofOrganizer("api_key", { token: "another-key-of-the-rehearsal", name: "b", permissions: ["*"], limit_events: [] }),
    ofEvent("question", { id: 1, question: { en: "Who?" }, type: "C", options: [{ id: 1, answer: { en: "Me" } }] }),
    ofEvent("question", { id: 2, question: { en: "Why?" }, type: "S", items: [1, 99], dependency_question: 1 }),
    ofEvent("question", { id: 3, question: { en: "How?" }, type: "S", identifier: "2", dependency_question: 2 }),
    ofEvent("seat", { id: 1, seat_guid: "A-1", product: 1 }),
    ofEvent("seat", { id: 2, seat_guid: "A-2", product: 1 }),
    series("event", eventData({ slug: "series", has_subevents: true })),
    series("subevent", { id: 5, name: { en: "Day" }, date_from: "2027-12-27T10:00:00+01:00" }),
    series("item", itemData({ category: 1 })),
    series("quota", { id: 2, size: 5, items: [1], subevent: 5 }),
    series("quota", { id: 3, size: 5, items: [1, 7], subevent: 6 }),
    ofEvent("quota", { id: 4, size: 5, items: [1, 2], variations: [21, 29] }),
    ofEvent("item", itemData({ id: 3, variations: [{ id: 21 }, { id: 31 }], tax_rule: 1, category: 9 })),
    order("GOOD1", [
      positionData({ id: 1, secret: "one", seat: "A-1", answers: [{ question: 1, answer: "Me", options: [1] }] }),
    ]),
    order("GOOD2", [
      positionData({ id: 2, secret: "two", seat: "A-1", variation: 21 }),
      positionData({ id: 3, positionid: 2 }),
    ]),
    order("GOOD3", [positionData({ id: 4, item: 2, variation: 22, answers: [{ question: 9, answer: "?" }] })], {
      ...{ sales_channel: "box", meta_dat: 5 },
    }),
    order("BAD01", [positionData({ id: 1, secret: "stolen" })]),
    order("BAD02", [positionData({ id: 5, item: 77, secret: "do-not-log-this" })]),
    order("ODD01", [positionData({ id: 6, seat: "no-such" }), { id: 66 }], { sales_channel: "moon" }),
    // A split order: the first gives a position to the second.
    order("GOOD2", [positionData({ id: 2, secret: "two" })]),
    order("GOOD4", [positionData({ id: 3, secret: "three", seat: { name: "B", seat_guid: "B-1" } })]),
    order("GOOD5", [positionData({ id: 7, secret: "seven", seat: "B-1" })]),
    series("order", orderData({ code: "DAYS1", positions: [positionData({ id: 8, subevent: 5 })] })),
    series("order", orderData({ code: "DAYS2", positions: [positionData({ id: 9, subevent: 6 })] })),
    ofEvent("revoked_secret", { id: 1, secret: "old", position: 1 }),
    ofEvent("revoked_secret", { id: 2, secret: "older", position: 404 }),
    ofEvent("blocked_secret", { id: 1, secret: "blocked", blocked: true }),
    ofOrganizer("reusable_medium", { id: 1, type: "barcode", identifier: "M1", linked_orderposition: 8 }),
    ofOrganizer("reusable_medium", { id: 2, type: "barcode", identifier: "m1", linked_orderposition: 404 }),
    ofOrganizer("reusable_medium", { id: 3, type: "barcode", identifier: "M1" }),
    ofOrganizer("device", {
      ...{ device_id: 4, token: rehearsed.apiKey, name: "Thief", gate: 7, security_profile: "full" },
      ...{ software_brand: "tests", all_events: false, limit_events: ["series", "unknown"] },
    }),
    ofOrganizer("device", {
      ...{ device_id: 5, token: "device-five-of-the-rehearsal", name: "Lost", gate: 8, security_profile: "full" },
      ...{ software_brand: "tests", all_events: false, limit_events: ["series", "unknown"] },
    }),
    ofEvent("checkin_list", listData({ id: 1, all_products: false, limit_products: [1, 2, 66] })),
    series("checkin_list", listData({ id: 2, subevent: 5 })),
    series("checkin_list", listData({ id: 3, subevent: 6 })),
    ofEvent("checkin_list", listData({ id: 4 }), "no-such-event"),
    ofEvent("voucher", { id: 1, code: "REHEARSE", item: 2, variation: 21, quota: null }),
    ofEvent("voucher", { id: 2, code: "rehearse", item: 1 }),
    ofEvent("voucher", { id: 3, code: "REHEARSE3", quota: 1 }),
    ofEvent("voucher", { id: 4, code: "REHEARSE4", quota: 17 }),
    ofEvent("voucher", { id: 5, code: "REHEARSE5", item: 71, variation: 711 }),
    ofEvent("ticket_layout", { id: 1, name: "Layout", layout: [] }),
    ofEvent("ticket_layout_item", { id: 1, layout: 1, item: 1, sales_channel: "web" }),
    ofEvent("ticket_layout_item", { id: 2, layout: 8, item: 1, sales_channel: "web" }),
    ofEvent("ticket_layout_item", { id: 3, layout: 1, item: 88, sales_channel: "web" }),
    { ...ofEvent("blocked_secret", { id: 1 }), deleted: true },
  ];
}

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { deviceKey, eventPath, groundwork, ofEvent } = samplesOf("offline-scanners");

/** What the library of the apps reads of an order and of a ticket, each with the type without which it stops. */
const text = expect.any(String);
const number = expect.any(Number);
const list = expect.any(Array);
const textOrNull = expect.toSatisfy((value) => value === null || typeof value === "string");
const numberOrNull = expect.toSatisfy((value) => value === null || typeof value === "number");
const needed = {
  order: {
    ...{ code: text, status: text, secret: text, positions: list, checkin_text: textOrNull, locale: text },
    ...{ require_approval: false, valid_if_pending: false, checkin_attention: false, testmode: false },
    ...{ datetime: text, email: textOrNull, total: text },
  },
  position: {
    ...{ id: number, positionid: number, item: number, secret: text, checkins: list, answers: list },
    ...{ attendee_name: textOrNull, variation: numberOrNull, subevent: numberOrNull, blocked: null, order: text },
    ...{ valid_from: textOrNull, valid_until: textOrNull, addon_to: numberOrNull, attendee_email: textOrNull },
    ...{ pseudonymization_id: text, price: text, print_logs: list, pdf_data: expect.any(Object) },
  },
};

const left = ["downloads", "payment_date", "payment_provider", "fees", "positions.downloads", "payments", "refunds"];
const always = `testmode=false&${left.map((field) => `exclude=${field}`).join("&")}&pdf_data=true`;

describe("a scanner that works without a network", () => {
  let platform: TestPlatform;

  beforeAll(async () => {
    platform = await startTestPlatform();
    const { rejected } = await platform.import([
      ...groundwork(),
      ofEvent("question", { id: 7, question: { en: "Food" }, type: "S", items: [1], ask_during_checkin: false }),
      ofEvent("seat", { id: 3, seat_guid: "A-1", row_name: "A", seat_number: "1", product: 1 }),
      ofEvent("checkin_list", listData({ id: 4, name: "Gate", all_products: true })),
      ...[1, 2, 3].map((id) =>
        ofEvent(
          "order",
          orderData({
            code: `OFF${id}`,
            datetime: `2026-11-0${id}T10:00:00Z`,
            positions: [
              positionData({
                ...{ id, secret: `secret/${id}`, item: 1, attendee_name: `Visitor ${id}` },
                ...(id === 1 ? { seat: "A-1", answers: [{ question: 7, answer: "Vegan" }] } : {}),
              }),
            ],
          }),
        ),
      ),
      ofEvent("order", orderData({ code: "TEST", testmode: true, positions: [positionData({ id: 9, secret: "t" })] })),
    ]);
    expect(rejected).toBe(0);
  });
  afterAll(() => platform.stop());

  const ask = (path: string, method = "GET", body?: object, headers = {}): Promise<Answer> =>
    platform.request(method, path, { as: `Device ${deviceKey}`, headers, ...(body === undefined ? {} : { body }) });
  const codesIn = ({ body }: Answer) => body.results.map(({ code }: { code: string }) => code);

  /** Follows `next` as the library does. */
  async function sync(query: string): Promise<{ codes: string[]; generated: string }> {
    const first = await ask(`${eventPath}/orders/?${query}`);
    const codes = codesIn(first);
    for (let { next } = first.body; next !== null; ) {
      const url: string = next;
      expect(url.startsWith(platform.publicUrl)).toBe(true);
      const page = await ask(url.slice(platform.publicUrl.length));
      expect(page.body.count).toBe(first.body.count);
      codes.push(...codesIn(page));
      next = page.body.next;
    }
    return { codes, generated: encodeURIComponent(String(first.headers.get("x-page-generated"))) };
  }

  it("[E4.2, E4.3, E4.4] reads all orders, with every field that it needs", async () => {
    const { status, body, headers } = await ask(`${eventPath}/orders/?${always}`);
    expect(status).toBe(200);
    expect(headers.get("x-page-generated")).toMatch(/^20\d\d-.*Z$/);
    expect(body).toMatchObject({ count: 3, next: null });
    for (const order of body.results) {
      expect(order).toMatchObject(needed.order);
      for (const field of left) expect(order).not.toHaveProperty(field);
      for (const position of order.positions) {
        expect(position).toMatchObject(needed.position);
        expect(position).not.toHaveProperty("downloads");
        expect(position.pdf_data).toMatchObject({ secret: position.secret, images: expect.any(Object) });
      }
    }
    expect(body.results.at(-1).positions[0]).toMatchObject({
      seat: { id: 3, name: expect.any(String), seat_guid: "A-1" },
      answers: [{ question: 7, answer: "Vegan", options: [], option_identifiers: [] }],
      checkins: [],
    });
    expect((await sync(`${always}&page_size=1`)).codes).toEqual(["OFF3", "OFF2", "OFF1"]);
    const since = encodeURIComponent("2026-11-02T10:00:00Z");
    expect((await sync(`${always}&ordering=datetime&created_since=${since}`)).codes).toEqual(["OFF2", "OFF3"]);
    expect((await ask(`${eventPath}/orders/off2/`)).body).toMatchObject({ code: "OFF2", positions: [{ id: 2 }] });
  });

  it("[E4.5, E4.6] is told of orders whose tickets others scan, and of those that change", async () => {
    const { generated } = await sync(always);
    const news = (since: string) => `${always}&ordering=-last_modified&modified_since=${since}`;
    expect((await sync(news(generated))).codes).toEqual([]);
    const uploaded = { type: "entry", nonce: "n1", force: true, datetime: "2026-11-20T10:00:00Z", answers: {} };
    const scanned = await ask(
      `${eventPath}/checkinlists/4/positions/${encodeURIComponent("secret/2")}/redeem/`,
      "POST",
      { ...uploaded, questions_supported: false, ignore_unpaid: false, canceled_supported: true },
    );
    expect(scanned.status).toBe(201);
    const { body } = await ask(`${eventPath}/orders/?${news(generated)}`);
    expect(body).toMatchObject({
      count: 1,
      results: [
        {
          code: "OFF2",
          positions: [{ checkins: [{ list: 4, datetime: "2026-11-20T10:00:00Z", type: "entry", device_id: 3 }] }],
        },
      ],
    });
    const before = decodeURIComponent(generated);
    expect(Date.parse(body.results[0].last_modified)).toBeGreaterThanOrEqual(Date.parse(before));
    await platform.import([
      ofEvent("order", orderData({ code: "OFF3", status: "c", positions: [positionData({ id: 3, secret: "new" })] })),
    ]);
    const both = await sync(news(generated));
    expect(both.codes).toEqual(["OFF3", "OFF2"]);
    // The scan may come again for a minute, the change does not.
    expect((await sync(news(both.generated))).codes).not.toContain("OFF3");
  });

  it("[E4.8] tells what it has printed, once", async () => {
    const print = { source: "pretixSCAN", type: "badge", datetime: "2026-11-20T10:00:01Z", info: { printer: "Zebra" } };
    const send = () =>
      ask(`${eventPath}/orderpositions/2/printlog/`, "POST", print, { "x-idempotency-key": "print-of-2" });
    const first = await send();
    expect([first.status, first.body]).toEqual([
      201,
      { ...print, id: expect.any(Number), successful: true, device_id: 3 },
    ]);
    expect((await send()).body).toEqual(first.body);
    const { body } = await ask(`${eventPath}/orderpositions/?secret=${encodeURIComponent("secret/2")}`);
    expect(body).toMatchObject({ count: 1, results: [{ id: 2, order: "OFF2", print_logs: [first.body] }] });
    expect((await ask(`${eventPath}/orderpositions/99/printlog/`, "POST", print)).status).toBe(404);
  });
});

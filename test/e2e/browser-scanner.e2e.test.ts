import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, groundwork, ofEvent } = samplesOf("browsers");
const event = "series";
const base = `/api/v1/organizers/browsers/events/${event}`;
const hour = 3_600_000;
const at = (milliseconds: number) => new Date(milliseconds).toISOString();

/** A series with two dates, of which one is over, and two lists of which one has rules. */
function records(): unknown[] {
  const now = Date.now();
  const of = (kind: string, data: Record<string, unknown>) => ofEvent(kind, data, event);
  const ticket = (id: number, data: Record<string, unknown>) =>
    positionData({
      id,
      subevent: 1,
      attendee_email: null,
      secret: `secret-number-${id}`,
      pseudonymization_id: `PSEUDO${id}`,
      ...data,
    });
  const shirts = [
    { id: 21, value: { en: "S" }, position: 1 },
    { id: 22, value: { en: "XL" }, position: 2 },
  ];
  const onlyTickets = { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", "1", "Ticket"] }] }] };
  const everyDay = Array.from({ length: 51 }, (_, index) =>
    ticket(2000 + index, { positionid: index + 1, attendee_name: "Crowd", attendee_name_parts: {}, addon_to: null }),
  );
  return [
    ...groundwork(),
    of("event", {
      slug: event,
      name: { en: "Series" },
      live: true,
      currency: "EUR",
      timezone: "Europe/Berlin",
      date_from: at(now),
      has_subevents: true,
    }),
    of("category", { id: 1, name: { en: "Tickets" }, position: 1 }),
    of("item", itemData()),
    of("item", itemData({ id: 2, name: { en: "T-shirt" }, admission: false, position: 2, variations: shirts })),
    of("question", { id: 1, question: { en: "Diet?" }, type: "S", items: [1] }),
    of("subevent", { id: 1, name: { en: "Today" }, date_from: at(now - hour), date_to: at(now + hour) }),
    of("subevent", { id: 2, name: { en: "Yesterday" }, date_from: at(now - 30 * hour), date_to: at(now - 20 * hour) }),
    of("checkin_list", listData({ id: 1, name: "Today", subevent: 1 })),
    of("checkin_list", listData({ id: 2, name: "Yesterday", subevent: 2 })),
    of("checkin_list", listData({ id: 3, name: "Always", include_pending: true, rules: onlyTickets })),
    of(
      "order",
      orderData({
        positions: [
          ticket(1001, { answers: [{ question: 1, answer: "None", options: [] }], secret: "z3fsn8jy" }),
          ticket(1002, { positionid: 2, item: 2, variation: 22, addon_to: 1001, attendee_name: null }),
        ],
      }),
    ),
    of(
      "order",
      orderData({
        code: "PEND1",
        status: "n",
        email: null,
        positions: [ticket(1003, { attendee_name: "Pending Person" })],
      }),
    ),
    of("order", orderData({ code: "CROWD", email: null, positions: everyDay })),
  ];
}

describe("the browser scanner reads", () => {
  let platform: TestPlatform;
  const get = (path: string) => platform.request("GET", path, { as: `Token ${apiKey}` });
  /** A URL from an earlier answer. */
  const follow = (url: string) => get(url.slice(platform.baseUrl.length));

  beforeAll(async () => {
    platform = await startTestPlatform();
    expect(await platform.import(records())).toMatchObject({ rejected: 0, errors: [], settled: true });
  });
  afterAll(() => platform.stop());

  const today = { id: 1, name: { en: "Today" }, date_from: expect.any(String) };

  it("[C1.3, C1.6, C1.7] the lists to choose from", async () => {
    const query = `exclude=checkin_count&exclude=position_count&expand=subevent&ends_after=${at(Date.now() - 8 * hour)}`;
    const first = await get(`${base}/checkinlists/?${query}&page_size=1`);
    expect(first.status).toBe(200);
    const second = await follow(first.body.next);
    expect(second.body.next).toBeNull();
    const [dated, always] = [...first.body.results, ...second.body.results];
    expect(dated).toMatchObject({ id: 1, name: "Today", include_pending: false, subevent: today });
    expect(always).toMatchObject({ id: 3, name: "Always", include_pending: true, subevent: null });
    expect(dated).not.toHaveProperty("checkin_count");
    expect(dated).not.toHaveProperty("position_count");
  });

  it("[C1.6] the chosen list, and what to do when it was deleted", async () => {
    expect(await get(`${base}/checkinlists/1/?expand=subevent`)).toMatchObject({
      status: 200,
      body: { id: 1, name: "Today", include_pending: false, subevent: today },
    });
    expect((await get(`${base}/checkinlists/4711/?expand=subevent`)).status).toBe(404);
  });

  it("[C1.19] the counts of the list", async () => {
    const { body } = await get(`${base}/checkinlists/1/status/`);
    expect(body).toMatchObject({ checkin_count: 0, position_count: 53, inside_count: 0, event: { name: "Today" } });
  });

  const scanner = "ignore_status=true&expand=subevent&expand=item&expand=variation&check_rules=true";

  it("[C2.4, C2.8, C2.23] the results of a search", async () => {
    const { status, body } = await get(`${base}/checkinlists/1/positions/?${scanner}&search=zwiebel`);
    expect(status).toBe(200);
    expect(body.next).toBeNull();
    const needed = {
      secret: expect.any(String),
      positionid: expect.any(Number),
      checkins: [],
      require_attention: false,
    };
    const order = {
      order: "ABC12",
      order__status: "p",
      order__valid_if_pending: false,
      order__require_approval: false,
    };
    expect(body.results).toMatchObject([
      {
        ...needed,
        ...order,
        id: 1001,
        attendee_name: "Peter Zwiebelhuber",
        item: { name: { en: "Standard ticket" } },
        variation: null,
        subevent: today,
      },
      { ...needed, ...order, id: 1002, item: { name: { en: "T-shirt" } }, variation: { value: { en: "XL" } } },
    ]);
    const pending = await get(`${base}/checkinlists/1/positions/?${scanner}&search=pending`);
    expect(pending.body.results).toMatchObject([{ id: 1003, order__status: "n" }]);
  });

  it("[C2.11] the ticket of a short code", async () => {
    const { body } = await get(`${base}/checkinlists/1/positions/?${scanner}&search=secret-number-2050`);
    expect(body.results).toMatchObject([{ id: 2050, secret: "secret-number-2050" }]);
    const first = await get(`${base}/checkinlists/1/positions/?${scanner}&search=z3fsn8jy`);
    expect(first.body.results[0]).toMatchObject({ secret: "z3fsn8jy" });
  });

  it("[C2.14] the tickets that the rules of the list admit", async () => {
    const found = async (list: number, more = "") =>
      (await get(`${base}/checkinlists/${list}/positions/?${scanner}${more}&search=zwiebel`)).body.results.map(
        ({ id }: { id: number }) => id,
      );
    expect(await found(1)).toEqual([1001, 1002]);
    expect(await found(3)).toEqual([1001]);
    expect(await found(3, "&check_rules=false")).toEqual([1001, 1002]);
  });

  it("[C2.12] the next page, by the exact URL", async () => {
    const first = await get(`${base}/checkinlists/3/positions/?${scanner}&search=crowd`);
    expect(first.body).toMatchObject({ count: 51, results: expect.any(Array) });
    const second = await follow(first.body.next);
    expect(second.body).toMatchObject({ count: 51, next: null, results: [{ item: { id: 1 }, subevent: today }] });
    const all = [...first.body.results, ...second.body.results].map(({ id }: { id: number }) => id);
    expect(new Set(all).size).toBe(51);
  });
});

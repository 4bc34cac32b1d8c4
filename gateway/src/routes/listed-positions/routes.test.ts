import { Fault } from "@tessera/kit/fault";
import { OrderStatus, type Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { NextPage } from "@tessera/protos/gen/ticketing/type/v1/page";
import { beforeEach, describe, expect, it } from "vitest";
import { publicUrl } from "../../http/public-url.ts";
import { aList, aPosition } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";
import { presentPosition } from "./present.ts";

const positions = `${inEvent}/checkinlists/7/positions/`;

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("listedPositions", "listPositions", async () => ({ positions: [aPosition()], count: 51, page: 1 }));
  app.peers.when("listedPositions", "getPosition", async ({ id }) => {
    if (id !== 42) throw new Fault("not_found", "position_not_found", "The list has no such ticket.");
    return { position: aPosition() };
  });
  app.peers.when("checkinLists", "getCheckinList", async ({ id }) => {
    if (id !== 7) throw new Fault("not_found", "list_not_found", "There is no such check-in list.");
    return { list: aList() };
  });
});

describe("GET checkinlists/{list}/positions/", () => {
  it("[A6.1] links the next page by the cursor of the service, and passes on the one that was sent", async () => {
    const listed = (page: number, next: NextPage) =>
      app.peers.when("listedPositions", "listPositions", async () => ({
        positions: [aPosition()],
        count: 2000,
        page,
        next,
      }));
    const at = (query: string) => `${publicBase}${positions}?${query}`;
    listed(7, { cursor: "on" });
    const sent = "colour=3&cursor=here&ordering=order__code&page=7&search=ada";
    expect((await app.send("GET", `${positions}?${sent}`)).json).toMatchObject({
      next: at("colour=3&cursor=on&ordering=order__code&page=8&search=ada"),
      previous: at("colour=3&ordering=order__code&page=6&search=ada"),
    });
    expect(app.peers.requestsOf("listPositions")).toMatchObject([{ page: 7, cursor: "here" }]);
    // Tickets were deleted while a client paged: the page is beyond the last.
    listed(41, {});
    expect((await app.send("GET", `${positions}?cursor=here&page=41`)).json).toMatchObject({
      next: null,
      previous: at("page=40"),
    });
  });

  it("[A5.1, A6.1, A6.2, A7.1, A7.7, C2.4] searches, orders and pages", async () => {
    const { status, json } = await app.send(
      "GET",
      `${positions}?search=%20Ada%20&order=abc12&ordering=-last_checked_in,nonsense,positionid&ignore_status=TRUE&colour=3`,
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({
      count: 51,
      next: `${publicBase}${positions}?colour=3&ignore_status=TRUE&order=abc12&ordering=-last_checked_in%2Cnonsense%2Cpositionid&page=2&search=+Ada+`,
      results: [{ id: 42, checkins: [{ id: 5 }] }],
    });
    expect(app.peers.requestsOf("listPositions")).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        list: 7,
        page: 1,
        pageSize: 50,
        ordering: ["-last_checked_in", "positionid"],
        search: "Ada",
        order: "abc12",
        ignoreStatus: true,
        searchOnly: false,
      },
    ]);
  });

  it("[C2.12] passes every filter on", async () => {
    const sent = {
      attendee_name: " Ada ",
      secret: "a/b",
      pseudonymization_id: "PSEUDO",
      voucher: "9",
      voucher__code: "FRIENDS",
      item: "1",
      item__in: "1,2",
      variation: "3",
      variation__in: " 3 ,, 4 ",
      subevent: "5",
      subevent__in: "5",
      addon_to: "6",
      addon_to__in: "6,7.0",
      order__status__in: "p,x",
      has_checkin: "False",
      check_rules: "0",
    };
    expect((await app.send("GET", `${positions}?${new URLSearchParams(sent)}`)).status).toBe(200);
    expect((await app.send("GET", `${positions}42/?${new URLSearchParams(sent)}`)).status).toBe(200);
    const filters = {
      attendeeName: "Ada",
      secret: "a/b",
      pseudonymizationId: "PSEUDO",
      voucher: 9,
      voucherCode: "FRIENDS",
      items: [
        { ids: [1], parameter: "item" },
        { ids: [1, 2], parameter: "item__in" },
      ],
      variations: [
        { ids: [3], parameter: "variation" },
        { ids: [3, 4], parameter: "variation__in" },
      ],
      subevents: [
        { ids: [5], parameter: "subevent" },
        { ids: [5], parameter: "subevent__in" },
      ],
      addonTo: [
        { ids: [6], parameter: "addon_to" },
        { ids: [6, 7], parameter: "addon_to__in" },
      ],
      orderStatuses: { words: ["p"] },
      hasCheckin: false,
    };
    expect(app.peers.requestsOf("listPositions")).toMatchObject([{ filters }]);
    expect(app.peers.requestsOf("getPosition")).toMatchObject([{ filters }]);
  });

  it.each([
    ["order__status=n", { orderStatuses: { words: ["n"] } }],
    ["order__status=n&order__status__in=p,n", { orderStatuses: { words: ["n"] } }],
    ["order__status=n&order__status__in=p", { orderStatuses: { words: [] } }],
    ["order__status__in=x,P,paid", { orderStatuses: { words: [] } }],
    ["item=1&item=2", { items: [{ ids: [2], parameter: "item" }] }],
    ["has_checkin=TRUE", { hasCheckin: true }],
    ["has_checkin=1", { hasCheckin: true }],
  ])("[C2.12] reads %s", async (query, filters) => {
    expect((await app.send("GET", `${positions}?${query}`)).status).toBe(200);
    expect(app.peers.requestsOf("listPositions")).toMatchObject([{ filters }]);
  });

  it("[A6.1, C2.25] takes what a list of values repeats once", async () => {
    const repeat = (...values: (string | number)[]) => Array.from({ length: 50 }, () => values.join()).join();
    const query = {
      order__status__in: repeat("c", "n", "x"),
      subevent__in: repeat(6, "6.0", 5),
      ordering: repeat("order__code", "-order__code", "-positionid", "positionid"),
    };
    expect((await app.send("GET", `${positions}?${new URLSearchParams(query)}`)).status).toBe(200);
    expect(app.peers.requestsOf("listPositions")).toMatchObject([
      {
        filters: { orderStatuses: { words: ["n", "c"] }, subevents: [{ ids: [6, 5], parameter: "subevent__in" }] },
        ordering: ["order__code", "-positionid"],
      },
    ]);
  });

  it("[C2.25] takes a thousand different ids, and no more", async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => index + 1);
    expect((await app.send("GET", `${positions}?item__in=${ids},1000,1`)).status).toBe(200);
    const { status, json } = await app.send("GET", `${positions}?item__in=${ids},1001&subevent__in=1`);
    expect([status, Object.keys(json as object)]).toEqual([400, ["item__in"]]);
    expect(app.peers.requestsOf("listPositions")).toMatchObject([{ filters: { items: [{ ids }] } }]);
  });

  it.each(["item=&item__in=,&order__status=&has_checkin=&voucher__code=%20", "has_checkin=maybe&check_rules=no", ""])(
    "[C2.12] takes “%s” for no filter",
    async (query) => {
      expect((await app.send("GET", `${positions}?${query}`)).status).toBe(200);
      expect(app.peers.requestsOf("listPositions")).toMatchObject([{ filters: undefined, expand: undefined }]);
    },
  );

  it("[C2.13] names every filter that cannot be read", async () => {
    const wrong = {
      item: "x",
      item__in: "1,x",
      variation: "0",
      variation__in: "-1",
      subevent: "1.5",
      subevent__in: "1;2",
      addon_to: "abc",
      addon_to__in: "99999999999999999999",
      voucher: "FRIENDS",
      order__status: "paid",
    };
    for (const path of [positions, `${positions}42/`]) {
      const { status, json } = await app.send("GET", `${path}?${new URLSearchParams(wrong)}`);
      expect([path, status]).toEqual([path, 400]);
      expect(Object.keys(json as object).sort()).toEqual(Object.keys(wrong).sort());
    }
    expect((await app.send("GET", `${positions.replace("/7/", "/8/")}?item=x`)).status).toBe(404);
    expect((await app.send("GET", `${positions}43/?item=x`)).status).toBe(404);
  });

  it("[C2.14] asks for what would be admitted now, at the gate of the device", async () => {
    await app.send("GET", `${positions}?check_rules=true`, { key: devices.scan });
    await app.send("GET", `${positions}?check_rules=True`);
    const asked = app.peers.requestsOf("listPositions") as { filters: PositionFilters }[];
    expect(asked.map(({ filters }) => [filters.admissibleNow, filters.gate])).toEqual([
      [true, 2],
      [true, undefined],
    ]);
  });

  it.each([
    [keys.all, false],
    [keys.reader, false],
    [keys.gate, true],
    [devices.scan, false],
  ])("[C2.7] with %s only by search: %s", async (key, searchOnly) => {
    expect((await app.send("GET", `${positions}?ignore_status=1`, { key })).status).toBe(200);
    expect(app.peers.requestsOf("listPositions")).toMatchObject([{ searchOnly, ignoreStatus: false }]);
  });

  it("[A2.12] is closed to kiosks", async () => {
    expect((await app.send("GET", positions, { key: devices.kiosk })).status).toBe(403);
  });

  it("names a null character, but after a list that is not there", async () => {
    expect((await app.send("GET", `${positions}?search=a%00`)).status).toBe(400);
    expect((await app.send("GET", `${positions.replace("/7/", "/8/")}?search=a%00`)).status).toBe(404);
    expect((await app.send("GET", positions.replace("/7/", "/seven/"))).status).toBe(404);
  });
});

describe("GET checkinlists/{list}/positions/{id}/", () => {
  it("[C2.5, C2.6] shows one ticket", async () => {
    expect(await app.send("GET", `${positions}42/?ignore_status=true`)).toMatchObject({
      status: 200,
      json: { id: 42 },
    });
    expect(app.peers.requestsOf("getPosition")).toEqual([
      { organizer: "bigevents", event: "sampleconf", list: 7, id: 42, ignoreStatus: true },
    ]);
    expect((await app.send("GET", `${positions}abc/`)).status).toBe(404);
    expect((await app.send("GET", `${positions}42/`, { key: keys.gate })).status).toBe(200);
    expect((await app.send("GET", `${positions}42/`, { key: devices.scan })).status).toBe(403);
  });
});

describe("expand", () => {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const { position } = aPosition();
  const refersTo = { item: 11, variation: 21, subevent: 5 };
  const listed = aPosition({
    position: { ...(position as Position), ...refersTo },
    addons: [aPosition({ position: { ...(position as Position), ...refersTo, id: 43, addonTo: 42 } })],
  });
  const item = { id: 11, name: { en: "Ticket" }, variations: [{ id: 20 }, { id: 21, value: { en: "VIP" } }] };
  const documents = {
    subevents: [{ id: 5, json: json({ id: 5, name: { en: "Monday" }, date_from: "2027-01-01T00:00:00Z" }) }],
    items: [{ id: 11, json: json(item) }],
    questions: [{ id: 1, json: json({ id: 1, question: { en: "Size ★?" } }) }],
  };
  const date = { id: 5, event: "sampleconf", name: { en: "Monday" }, date_from: "2027-01-01T00:00:00Z" };
  beforeEach(() => {
    app.peers.when("listedPositions", "listPositions", async () => ({
      positions: [listed],
      count: 1,
      page: 1,
      documents,
    }));
    app.peers.when("listedPositions", "getPosition", async () => ({ position: listed, documents }));
  });
  const ids = { item: 11, variation: 21, subevent: 5, answers: [{ question: 1 }] };

  it.each([
    ["", ids],
    ["expand=nonsense&expand=", ids],
    ["expand=item", { ...ids, item }],
    ["expand=variation", { ...ids, variation: item.variations[1] }],
    ["expand=subevent", { ...ids, subevent: date }],
    ["expand=answers.question", { ...ids, answers: [{ question: { id: 1, question: { en: "Size ★?" } } }] }],
    ["expand=item&expand=subevent&expand=nonsense&expand=item", { ...ids, item, subevent: date }],
  ])("[C2.23] “%s” shows what was asked for in full, one ticket and many", async (query, expected) => {
    const many = await app.send("GET", `${positions}?${query}`);
    expect(many).toMatchObject({ status: 200, json: { results: [{ id: 42, ...expected }] } });
    const one = await app.send("GET", `${positions}42/?${query}`);
    expect(one).toMatchObject({ status: 200, json: { id: 42, ...expected } });
    expect(one.json).not.toHaveProperty("addons");
  });

  it("[C2.24] shows add-ons as positions, with what was asked for of them", async () => {
    const query = "expand=addons&expand=variation&expand=answers.question";
    const { json: shown } = await app.send("GET", `${positions}42/?${query}`);
    const { addons, ...alone } = shown as { addons: object[] };
    expect(addons).toEqual([{ ...alone, id: 43, addon_to: 42, downloads: expect.any(Array), addons: [] }]);
    expect(addons).toMatchObject([{ item: 11, variation: { id: 21 }, answers: [{ question: { id: 1 } }] }]);
    expect(app.peers.requestsOf("getPosition")).toMatchObject([
      { expand: { subevent: false, item: false, variation: true, answersQuestion: true, addons: true } },
    ]);
  });

  it("[C2.23] leaves ids whose resource is not known, and null", async () => {
    app.peers.when("listedPositions", "getPosition", async () => ({
      position: aPosition({ position: { ...(position as Position), item: 12, variation: 22 } }),
      documents: { ...documents, questions: [] },
    }));
    const query = "expand=item&expand=variation&expand=subevent&expand=answers.question&expand=addons";
    expect(await app.send("GET", `${positions}42/?${query}`)).toMatchObject({
      status: 200,
      json: { item: 12, variation: 22, subevent: null, answers: [{ question: 1 }], addons: [] },
    });
  });
});

describe("pdf_data", () => {
  it.each([
    ["pdf_data=true", keys.all, true],
    ["pdf_data=True", keys.reader, true],
    ["pdf_data=true", devices.full, true],
    ["pdf_data=true", keys.gate, false],
    ["pdf_data=1", keys.all, false],
    ["pdf_data=", keys.all, false],
    ["", keys.all, false],
  ])("[C2.26] “%s” as %s adds the key: %s", async (query, key, expected) => {
    const one = await app.send("GET", `${positions}42/?${query}`, { key });
    expect([one.status, (one.json as { pdf_data?: object }).pdf_data]).toEqual([200, expected ? {} : undefined]);
    const many = await app.send("GET", `${positions}?${query}`, { key });
    expect((many.json as { results: object[] }).results.map((shown) => "pdf_data" in shown)).toEqual([expected]);
  });

  it("[C2.26] is what layouts print, with the addresses of pictures, and empty while that cannot be told", async () => {
    app.peers.when("rendering", "evaluateVariables", async () => ({
      tickets: [
        {
          position: 42,
          texts: { secret: "abc" },
          images: { question_photo: { owner: 42, question: 7 }, question_pass: { owner: 0, question: 0 } },
        },
      ],
    }));
    const read = async () => {
      const { json } = await app.send("GET", `${positions}42/?pdf_data=true`);
      return (json as { pdf_data: unknown }).pdf_data;
    };
    expect(await read()).toEqual({
      secret: "abc",
      images: {
        question_photo: expect.stringMatching(/\/orderpositions\/42\/answer\/7\/$/),
        question_pass: null,
      },
    });
    app.peers.when("rendering", "evaluateVariables", () => Promise.reject(new Error("away")));
    expect(await read()).toEqual({});
  });

  it("[C2.26] is not on add-ons", async () => {
    app.peers.when("listedPositions", "getPosition", async () => ({ position: aPosition({ addons: [aPosition()] }) }));
    const { json } = await app.send("GET", `${positions}42/?pdf_data=true&expand=addons`);
    expect(json).toMatchObject({ pdf_data: {}, addons: [{ id: 42 }] });
    expect((json as { addons: object[] }).addons[0]).not.toHaveProperty("pdf_data");
  });
});

describe("presentPosition", () => {
  const url = publicUrl("https://a.example", "/", new URLSearchParams());
  const place = { url, organizer: "o", event: "e" };
  const unexpanded = { names: [], documents: undefined, pdfData: undefined, prints: new Map() };
  const { position } = aPosition();
  if (position?.order === undefined) throw new Error("the example has no order");
  const withOrder = (status: OrderStatus) =>
    aPosition({ position: { ...position, order: { ...position.order, status } as typeof position.order } });

  it.each([
    [OrderStatus.PENDING, "n"],
    [OrderStatus.PAID, "p"],
    [OrderStatus.EXPIRED, "e"],
    [OrderStatus.CANCELED, "c"],
    [OrderStatus.UNRECOGNIZED, "c"],
  ])("shows %s as %s", (status, letter) => {
    expect(presentPosition(withOrder(status), place, unexpanded)).toMatchObject({ order__status: letter });
  });

  it("[C2.18] shows a position with every key", () => {
    expect(Object.keys(presentPosition(aPosition(), place, unexpanded)).sort()).toEqual([
      ...["addon_to", "answers", "attendee_email", "attendee_name", "attendee_name_parts", "blocked", "checkins"],
      ...["city", "company", "country", "downloads", "id", "item", "order", "order__locale"],
      ...["order__require_approval", "order__status", "order__valid_if_pending", "positionid", "price", "print_logs"],
      ...["pseudonymization_id", "require_attention", "seat", "secret", "state", "street", "subevent", "tax_rate"],
      ...["tax_rule", "tax_value", "valid_from", "valid_until", "variation", "voucher", "zipcode"],
    ]);
    expect(presentPosition(aPosition(), place, unexpanded)).toMatchObject({
      price: "23.00",
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
      downloads: [
        { output: "pdf", url: "https://a.example/api/v1/organizers/o/events/e/orderpositions/42/download/pdf/" },
      ],
      answers: [{ question: 1, answer: "M", question_identifier: "SIZE", options: [4], option_identifiers: ["M"] }],
      seat: { id: 1, name: "Row 1, Seat 2", row_label: null, seat_label: null },
    });
  });

  it("shows what is empty as null, and limits as instants", () => {
    const shown = presentPosition(
      aPosition({
        attendeeName: undefined,
        position: { ...position, seat: undefined, blocked: ["admin"], validFrom: 0, validUntil: -1 },
      }),
      place,
      unexpanded,
    );
    expect(shown).toMatchObject({
      attendee_name: null,
      seat: null,
      blocked: ["admin"],
      valid_from: "1970-01-01T00:00:00Z",
      valid_until: "1969-12-31T23:59:59.999999Z",
    });
  });
});

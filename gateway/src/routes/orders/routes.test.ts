import { Fault } from "@tessera/kit/fault";
import type { OrderedPosition, Print, RecordPrintRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { orderRecord, positionRecord } from "@tessera/resources/records/order";
import { beforeEach, describe, expect, it } from "vitest";
import { aPosition } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";
import { notKnownHere } from "./present.ts";

const app = appOfEachTest();
const at = 1_700_000_000_123_456;

/** The data of a record, as boxoffice completes it. */
const positionData = {
  ...Object.fromEntries(Object.keys(positionRecord.properties).map((name) => [name, null])),
  ...{ id: 42, positionid: 1, canceled: false, item: 11, price: "23.00", attendee_name_parts: null, answers: [] },
  ...{ tax_rate: "19.00", tax_value: "3.67", secret: "abc", pseudonymization_id: "PSEUDO", seat: "1-2" },
};
const orderData = {
  ...Object.fromEntries(Object.keys(orderRecord.properties).map((name) => [name, null])),
  ...{ code: "ABC12", status: "p", testmode: false, secret: "k24f", email: "jo@example.org", locale: "en" },
  ...{ sales_channel: "web", datetime: "2026-01-01T10:00:00Z", total: "23.00", tax_rounding_mode: "line", comment: "" },
  ...{ api_meta: {}, checkin_attention: false, require_approval: false, valid_if_pending: false, fees: [] },
  positions: [positionData],
};
const ordered = (rest: Partial<OrderedPosition> = {}): OrderedPosition => ({
  position: { ...(aPosition().position as NonNullable<OrderedPosition["position"]>), attendeeName: "Ada Lovelace" },
  downloads: ["pdf"],
  prints: [{ id: 7, successful: true, at, source: "app", type: "badge", deviceId: 3, info: Buffer.from('{"a":1}') }],
  ...rest,
});
const document = (data: object = orderData, positions = [ordered()]) => ({
  json: Buffer.from(JSON.stringify(data)),
  changedAt: at,
  positions,
});

beforeEach(() => {
  app.peers.when("orders", "listOrders", async () => ({
    ...{ orders: [document()], count: 3, page: 1, asOf: at, next: { cursor: "next-one" } },
  }));
  app.peers.when("orders", "getOrder", async () => ({ order: document() }));
  const position = { json: Buffer.from(JSON.stringify(positionData)), position: ordered() };
  app.peers.when("orders", "listOrderPositions", async () => ({ positions: [position], count: 1, page: 1 }));
  app.peers.when("orders", "getOrderPosition", async () => ({ position }));
  app.peers.when("orderCheckins", "findScannedSince", async () => ({ positions: [42, 43], tooMany: false }));
  app.peers.when("orderCheckins", "findCheckins", async () => ({
    positions: [{ position: 42, checkins: aPosition().checkins, createdAt: at + 1_000_000 }],
  }));
  app.peers.when("rendering", "evaluateVariables", async ({ positions }) => ({
    tickets: positions.map((id: number) => ({
      ...{ position: id, texts: { attendee_name: "Ada" }, images: { photo: { owner: id, question: 5 } } },
    })),
  }));
});

const send = (path: string, key: string = devices.scan) => app.send("GET", `${inEvent}/${path}`, { key });
const shownPosition = {
  ...positionData,
  order: "ABC12",
  attendee_name: "Ada Lovelace",
  attendee_name_parts: {},
  seat: {
    ...{ id: 1, name: "Row 1, Seat 2", seat_guid: "1-2", zone_name: "A", row_name: "1", row_label: null },
    ...{ seat_number: "2", seat_label: null },
  },
  answers: [{ question: 1, answer: "M", question_identifier: "SIZE", options: [4], option_identifiers: ["M"] }],
  checkins: [
    {
      ...{ id: 5, list: 7, datetime: "2023-11-14T22:13:20.123456Z", type: "entry", gate: 2, device: 9, device_id: 3 },
      auto_checked_in: false,
    },
  ],
  print_logs: [
    {
      ...{ id: 7, successful: true, datetime: "2023-11-14T22:13:20.123456Z", source: "app", type: "badge" },
      ...{ device_id: 3, info: { a: 1 } },
    },
  ],
  downloads: [{ output: "pdf", url: `${publicBase}${inEvent}/orderpositions/42/download/pdf/` }],
  plugin_data: {},
};
const shownOrder = {
  ...orderData,
  event: "sampleconf",
  positions: [shownPosition],
  last_modified: "2023-11-14T22:13:21.123456Z",
  ...notKnownHere,
};

describe("orders/", () => {
  it("[E4.3, E4.4] shows whole orders, with the cursor of the next page and the time since when to ask next", async () => {
    const { status, json, headers } = await send("orders/?exclude=fees");
    expect([status, json]).toEqual([
      200,
      {
        count: 3,
        next: `${publicBase}${inEvent}/orders/?cursor=next-one&exclude=fees&page=2`,
        previous: null,
        results: [Object.fromEntries(Object.entries(shownOrder).filter(([name]) => name !== "fees"))],
      },
    ]);
    expect(headers["x-page-generated"]).toBe("2023-11-14T22:13:20.123456Z");
    expect(await send("orders/ABC12/")).toMatchObject({ status: 200, json: shownOrder });
    expect(app.peers.requestsOf("getOrder")).toMatchObject([{ event: "sampleconf", code: "ABC12" }]);
    expect(app.peers.requestsOf("findCheckins")).toMatchObject([{ positions: [42] }, { positions: [42] }]);
  });

  it("[E4.2] is asked for as scanners ask", async () => {
    const exclude = [
      "downloads",
      "payment_date",
      "payment_provider",
      "fees",
      "positions.downloads",
      "payments",
      "refunds",
    ];
    const always = `testmode=false&${exclude.map((field) => `exclude=${field}`).join("&")}&pdf_data=true`;
    const first = await send(`orders/?${always}&subevent_after=2026-06-01T00:00:00%2B0000`);
    await send(`orders/?${always}&ordering=datetime&created_since=2026-06-01T00:00:00Z`);
    await send("orders/?status=n,p&status=e&code=abc12&include_canceled_positions=true&cursor=c");
    expect(app.peers.requestsOf("listOrders")).toMatchObject([
      {
        testmode: false,
        beginsSince: Date.UTC(2026, 5, 1) * 1000,
        ordering: [],
        orOfPositions: [],
        statuses: undefined,
      },
      { testmode: false, placedSince: Date.UTC(2026, 5, 1) * 1000, ordering: ["datetime"], changedSince: undefined },
      {
        statuses: { letters: ["n", "p", "e"] },
        code: "abc12",
        cursor: "c",
        canceled: { positions: true, fees: false },
      },
    ]);
    const [result] = (first.json as { results: { positions: object[] }[] }).results;
    for (const field of exclude.filter((name) => !name.includes("."))) expect(result).not.toHaveProperty(field);
    expect(result?.positions[0]).not.toHaveProperty("downloads");
    expect(result?.positions[0]).toMatchObject({
      pdf_data: { attendee_name: "Ada", images: { photo: `${publicBase}${inEvent}/orderpositions/42/answer/5/` } },
    });
    expect(await send("orders/?modified_since=soon")).toMatchObject({
      status: 400,
      json: { modified_since: [expect.anything()] },
    });
  });

  it("[E4.5, E4.6] asks for what changed together with what was scanned", async () => {
    const path = `orders/?ordering=-last_modified&modified_since=${encodeURIComponent("2023-11-14T22:13:20.123456Z")}`;
    expect((await send(path)).status).toBe(200);
    app.peers.when("orderCheckins", "findScannedSince", async () => ({ positions: [], tooMany: true }));
    expect((await send(path)).status).toBe(200);
    expect(app.peers.requestsOf("findScannedSince")).toMatchObject([{ since: at, event: "sampleconf" }, { since: at }]);
    expect(app.peers.requestsOf("listOrders")).toMatchObject([
      { changedSince: at, orOfPositions: [42, 43], ordering: ["-last_modified"] },
      { changedSince: undefined, orOfPositions: [] },
    ]);
  });

  it("[E4.2] shows the fields that are asked for alone", async () => {
    const only = await send("orders/?include=code&include=positions.secret&include=positions.id&exclude=positions.id");
    expect((only.json as { results: object[] }).results).toEqual([{ code: "ABC12", positions: [{ secret: "abc" }] }]);
    expect((await send("orders/ABC12/?include=code&include=nonsense")).json).toEqual({ code: "ABC12" });
    expect((await send("orderpositions/42/?exclude=checkins&include=checkins&include=id")).json).toEqual({ id: 42 });
  });

  it("[E4.3] names the address of an answer that is a file, and what is not printed yet", async () => {
    const { position } = ordered();
    const answers = [
      { question: 6, answer: "file:x", questionIdentifier: "Q", options: [], optionIdentifiers: [], file: true },
    ];
    const plain = { ...position, answers, seat: undefined, attendeeName: undefined } as NonNullable<typeof position>;
    app.peers.when("orders", "getOrder", async () => ({
      order: document(orderData, [ordered({ position: plain, prints: [], downloads: [] })]),
    }));
    app.peers.when("orderCheckins", "findCheckins", async () => ({ positions: [] }));
    expect((await send("orders/ABC12/?pdf_data=true")).json).toMatchObject({
      last_modified: "2023-11-14T22:13:20.123456Z",
      positions: [
        {
          ...{ attendee_name: null, seat: null, checkins: [], print_logs: [], downloads: [] },
          answers: [{ answer: `${publicBase}${inEvent}/orderpositions/42/answer/6/` }],
        },
      ],
    });
  });

  it("[E4.3] asks for the scans and variables of many tickets in parts", async () => {
    const ids = Array.from({ length: 10_050 }, (_, index) => index + 1);
    const { position } = ordered();
    const many = ids.map((id) =>
      ordered({ position: { ...position, id } as NonNullable<typeof position>, prints: [] }),
    );
    app.peers.when("orders", "getOrder", async () => ({
      order: document({ ...orderData, positions: ids.map((id) => ({ ...positionData, id })) }, many),
    }));
    const { json } = await send("orders/ABC12/?pdf_data=true&include=positions.pdf_data");
    expect((json as { positions: object[] }).positions.at(-1)).toMatchObject({ pdf_data: { attendee_name: "Ada" } });
    const sizes = (method: string) =>
      app.peers.requestsOf(method).map((request) => (request as { positions: unknown[] }).positions.length);
    expect(sizes("findCheckins")).toEqual([10_000, 50]);
    expect(sizes("evaluateVariables")).toEqual([...Array.from({ length: 100 }, () => 100), 50]);
  });

  it("[E4.3] of an unknown order is 404", async () => {
    app.peers.when("orders", "getOrder", async () => {
      throw new Fault("not_found", "order_not_found", "Not found.");
    });
    expect(await send("orders/NONE/")).toMatchObject({ status: 404, json: { detail: "Not found." } });
  });

  it("[E4.9] is for those who may read orders", async () => {
    for (const path of ["orders/", "orders/ABC12/", "orderpositions/", "orderpositions/42/"])
      for (const [key, status] of [
        [keys.reader, 200],
        [devices.scan, 200],
        [devices.full, 200],
        [devices.kiosk, 403],
        [keys.gate, 403],
        [keys.none, 403],
        [keys.otherOrganizer, 403],
      ] as const)
        expect([path, key, (await send(path, key)).status]).toEqual([path, key, status]);
  });
});

describe("orderpositions/", () => {
  it("[E4.7] shows tickets as their orders do", async () => {
    expect(await send("orderpositions/?order=abc12&secret=a%2Fb&item=11&subevent=3")).toMatchObject({
      status: 200,
      json: { count: 1, next: null, results: [shownPosition] },
    });
    expect(await send("orderpositions/42/?include_canceled_positions=true")).toMatchObject({
      status: 200,
      json: shownPosition,
    });
    expect(app.peers.requestsOf("listOrderPositions")).toMatchObject([
      { order: "abc12", secret: "a/b", item: 11, subevent: 3, withCanceled: false },
    ]);
    expect(app.peers.requestsOf("getOrderPosition")).toMatchObject([{ id: 42, withCanceled: true }]);
    expect((await send("orderpositions/x/")).status).toBe(404);
  });

  it("[E4.7] have the cursor of the next page behind a short one", async () => {
    app.peers.when("orders", "listOrderPositions", async () => ({
      ...{ positions: [], count: 9, page: 2, next: { cursor: "from7" } },
    }));
    const { json } = await send("orderpositions/?page=2&cursor=from3&item=11");
    expect(json).toMatchObject({ next: `${publicBase}${inEvent}/orderpositions/?cursor=from7&item=11&page=3` });
    expect(app.peers.requestsOf("listOrderPositions")).toMatchObject([{ page: 2, cursor: "from3" }]);
  });
});

describe("POST printlog/", () => {
  const address = `${inEvent}/orderpositions/42/printlog/`;
  const print = (body: unknown, key: string = devices.scan) => app.send("POST", address, { key, body });
  beforeEach(() => {
    app.peers.when("orders", "recordPrint", async ({ print }: RecordPrintRequest) => ({
      print: { ...(print as Print), id: 9, at: print?.at ?? at },
    }));
  });

  it("[E4.8] stores what a device has printed, and answers it", async () => {
    const sent = { source: "pretixSCAN", type: "badge", datetime: "2026-01-01T10:00:00Z", info: { printer: "Zebra" } };
    expect(await print({ ...sent, unknown: 1 })).toMatchObject({
      status: 201,
      json: { ...sent, id: 9, successful: true, device_id: 3 },
    });
    expect(await print({ source: "shop", type: "ticket", datetime: null }, keys.gate)).toMatchObject({
      status: 201,
      json: { info: {}, device_id: null, datetime: "2023-11-14T22:13:20.123456Z" },
    });
    expect(app.peers.requestsOf("recordPrint")).toMatchObject([
      { event: "sampleconf", position: 42, print: { at: Date.UTC(2026, 0, 1, 10) * 1000, deviceId: 3 } },
      { position: 42, print: { at: undefined } },
    ]);
  });

  it("[E4.8] names every wrong field, and is 404 without such a ticket, whatever is wrong", async () => {
    const { status, json } = await print({
      source: " ",
      type: "poster",
      datetime: "x",
      info: ["x"],
      successful: "maybe",
    });
    expect([status, Object.keys(json as object).sort()]).toEqual([
      400,
      ["datetime", "info", "source", "successful", "type"],
    ]);
    app.peers.when("orders", "getOrderPosition", async () => {
      throw new Fault("not_found", "order_position_not_found", "Not found.");
    });
    expect((await print({})).status).toBe(404);
    expect(app.peers.requestsOf("recordPrint")).toEqual([]);
  });

  it.each([{ info: null }, { info: [] }, { info: {} }, { info: "", successful: "", datetime: "" }, {}])(
    "[A9.27, E4.8] takes a print of which nothing is said: %j",
    async (body) => {
      expect(await print({ source: "app", type: "badge", ...body })).toMatchObject({
        status: 201,
        json: { info: {}, successful: true },
      });
    },
  );

  it("[E4.8] takes what is said of a print in up to 4096 bytes", async () => {
    const ofBytes = (bytes: number) => ({ source: "app", type: "badge", info: { x: "é".repeat((bytes - 8) / 2) } });
    expect((await print(ofBytes(4096))).status).toBe(201);
    expect(await print(ofBytes(4098))).toMatchObject({ status: 400, json: { info: [expect.any(String)] } });
    expect(app.peers.requestsOf("recordPrint")).toHaveLength(1);
  });

  it("[E4.8] is for those who may check in or change orders, and for devices of staff", async () => {
    for (const [key, status] of [
      [keys.gate, 201],
      [devices.scan, 201],
      [devices.full, 201],
      [devices.kiosk, 403],
      [keys.reader, 403],
    ] as const)
      expect([key, (await print({ source: "a", type: "other" }, key)).status]).toEqual([key, status]);
  });
});

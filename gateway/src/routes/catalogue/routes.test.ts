import { Fault } from "@tessera/kit/fault";
import { DocumentKind, type ListDocumentsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";
import { catalogueExamples } from "./examples.ts";

const organizer = "/api/v1/organizers/bigevents";
const app = appOfEachTest();

const shownBy: ReadonlyMap<DocumentKind, object> = new Map<DocumentKind, object>([
  [DocumentKind.EVENT, catalogueExamples.event.answer],
  [DocumentKind.EVENT_SETTINGS, catalogueExamples.settings.answer],
  [DocumentKind.SUBEVENT, catalogueExamples.date.answer],
  [DocumentKind.CATEGORY, catalogueExamples.category.answer],
  [DocumentKind.ITEM, catalogueExamples.item.answer],
  [DocumentKind.QUESTION, catalogueExamples.question.answer],
  [DocumentKind.QUOTA, catalogueExamples.quota.answer],
  [DocumentKind.GATE, { id: 1, name: "West", identifier: "west" }],
  [DocumentKind.REVOKED_SECRET, { id: 1, secret: "k24fiuwvu8kxz3y1", created: "2026-01-01T10:00:00Z", position: null }],
  [DocumentKind.BLOCKED_SECRET, { id: 1, secret: "k24fiuwvu8kxz3y1", blocked: true, updated: "2026-01-01T10:00:00Z" }],
]);
const medium = {
  ...{ id: 1, organizer: null, created: null, updated: null, type: "barcode", identifier: "ABC", active: true },
  ...{ expires: null, customer: null, linked_giftcard: null, notes: null, info: null },
};
const documentOf = (kind: DocumentKind, more: object = {}) => {
  const {
    valid_keys: _keys,
    best_availability_state: _state,
    event: _event,
    ...data
  } = { ...shownBy.get(kind), ...more } as Record<string, unknown>;
  return { event: "festival", json: Buffer.from(JSON.stringify(data)) };
};

beforeEach(() => {
  app.peers.when("catalogue", "listDocuments", async ({ kind }: ListDocumentsRequest) => ({
    ...{ documents: [documentOf(kind)], count: 1, page: 1, asOf: 1_700_000_000_123_456, isUnchanged: false },
  }));
  app.peers.when("catalogue", "getDocument", async ({ kind }) => ({ document: documentOf(kind) }));
});

const send = (path: string, key: string = devices.scan) => app.send("GET", path, { key });

describe("what records brought", () => {
  it.each([
    [`${organizer}/events/`, DocumentKind.EVENT],
    [`${organizer}/subevents/`, DocumentKind.SUBEVENT],
    [`${organizer}/gates/`, DocumentKind.GATE],
    [`${inEvent}/subevents/`, DocumentKind.SUBEVENT],
    [`${inEvent}/categories/`, DocumentKind.CATEGORY],
    [`${inEvent}/items/`, DocumentKind.ITEM],
    [`${inEvent}/questions/`, DocumentKind.QUESTION],
    [`${inEvent}/quotas/`, DocumentKind.QUOTA],
    [`${inEvent}/revokedsecrets/`, DocumentKind.REVOKED_SECRET],
    [`${inEvent}/blockedsecrets/`, DocumentKind.BLOCKED_SECRET],
  ])("[E2.1] is listed at %s, with the time since when to ask next", async (path, kind) => {
    const { status, json, headers } = await send(path, devices.full);
    expect([status, json]).toEqual([200, { count: 1, next: null, previous: null, results: [shownBy.get(kind)] }]);
    expect(headers["x-page-generated"]).toBe("2023-11-14T22:13:20.123456Z");
    const event = path.startsWith(inEvent) ? "sampleconf" : "";
    expect(app.peers.requestsOf("listDocuments")).toMatchObject([{ organizer: "bigevents", event, kind, page: 1 }]);
  });

  it.each([
    [`${inEvent}/`, DocumentKind.EVENT, undefined],
    [`${inEvent}/settings/`, DocumentKind.EVENT_SETTINGS, undefined],
    [`${inEvent}/subevents/7/`, DocumentKind.SUBEVENT, 7],
    [`${inEvent}/categories/7/`, DocumentKind.CATEGORY, 7],
    [`${inEvent}/items/7/`, DocumentKind.ITEM, 7],
    [`${inEvent}/questions/7/`, DocumentKind.QUESTION, 7],
  ])("[E2.2] is shown at %s", async (path, kind, id) => {
    expect(await send(path)).toMatchObject({ status: 200, json: shownBy.get(kind) });
    expect(app.peers.requestsOf("getDocument")).toEqual([{ organizer: "bigevents", event: "sampleconf", kind, id }]);
    app.peers.when("catalogue", "getDocument", async () => {
      throw new Fault("not_found", "document_not_found", "Not found.");
    });
    expect(await send(path)).toMatchObject({ status: 404, json: { detail: "Not found." } });
  });

  it("[E2.3] is asked for as scanners ask", async () => {
    const time = (at: number) => encodeURIComponent(new Date(at).toISOString());
    const at = 1_700_000_000_000;
    await send(`${organizer}/events/?ends_after=${time(at)}&ordering=date_from&live=true&search=fest`);
    await send(
      `${organizer}/subevents/?ordering=-last_modified&modified_since=${time(at)}&event__live=true&active=true`,
    );
    await send(`${inEvent}/revokedsecrets/?ordering=-created&created_since=${time(at)}`);
    await send(`${inEvent}/blockedsecrets/?ordering=-updated&updated_since=${time(at)}`);
    expect(app.peers.requestsOf("listDocuments")).toMatchObject([
      { ordering: ["date_from"], endsAfter: at * 1000, live: true, search: "fest" },
      { ordering: ["-last_modified"], changedSince: at * 1000, live: true, active: true },
      { ordering: ["-created"], changedSince: at * 1000 },
      { ordering: ["-updated"], changedSince: at * 1000 },
    ]);
    expect(await send(`${organizer}/events/?ends_after=soon`)).toMatchObject({
      status: 400,
      json: { ends_after: [expect.any(String)] },
    });
  });

  it("[E2.4] of an organizer is limited to the events of the credentials, and to their own organizer", async () => {
    await send(`${organizer}/events/`, keys.otherEvent);
    await send(`${organizer}/events/`, keys.all);
    expect(app.peers.requestsOf("listDocuments")).toMatchObject([
      { among: { slugs: ["other"] } },
      { among: undefined },
    ]);
    for (const path of ["events/", "subevents/", "reusablemedia/", "gates/"])
      expect((await send(`/api/v1/organizers/another/${path}`, keys.all)).status, path).toBe(403);
    expect((await send(`${organizer}/events/`, keys.operator)).status).toBe(403);
  });

  it.each([devices.full, devices.scan, devices.kiosk, keys.none])("[E2.14] gates are read as %s", async (key) => {
    expect((await send(`${organizer}/gates/`, key)).status).toBe(200);
  });

  it("[E2.5] of a next page has every parameter of the first", async () => {
    app.peers.when("catalogue", "listDocuments", async () => ({
      documents: [documentOf(DocumentKind.ITEM)],
      count: 2,
      page: 1,
      asOf: 1,
      isUnchanged: false,
    }));
    const { json } = await send(`${inEvent}/items/?page_size=1&exclude=picture&exclude=bundles&active=true`);
    expect(json).toMatchObject({
      next: `${publicBase}${inEvent}/items/?active=true&exclude=picture&exclude=bundles&page=2&page_size=1`,
    });
    expect((json as { results: object[] }).results[0]).not.toHaveProperty("picture");
  });
});

describe("quotas", () => {
  const rest = { isAvailable: true, left: 419, paid: 430, pending: 25, byVouchers: 126 };
  const ofQuota = (availability: object = rest) => ({
    ...documentOf(DocumentKind.QUOTA, { size: 1000 }),
    availability,
  });
  const ask = (path: string) => send(`${inEvent}/quotas/${path}`, devices.full);

  it("[E2.10] are read by keys, and by devices without a closed set of routes", async () => {
    for (const path of ["", "7/", "7/availability/"]) {
      app.peers.when("catalogue", "getDocument", async () => ({ document: ofQuota() as never }));
      expect((await ask(path)).status, path).toBe(200);
      expect((await send(`${inEvent}/quotas/${path}`, keys.all)).status, path).toBe(200);
      expect((await send(`${inEvent}/quotas/${path}`, devices.scan)).status, path).toBe(403);
      expect((await send(`${inEvent}/quotas/${path}`, keys.otherEvent)).status, path).toBe(403);
    }
  });

  it("[E2.11] show what is left where that is asked for", async () => {
    app.peers.when("catalogue", "getDocument", async () => ({ document: ofQuota() as never }));
    expect((await ask("7/availability/")).json).toEqual({
      ...{ available: true, available_number: 419, total_size: 1000, pending_orders: 25, paid_orders: 430 },
      ...{ exited_orders: 0, cart_positions: 0, blocking_vouchers: 126, waiting_list: 0 },
    });
    app.peers.when("catalogue", "getDocument", async () => ({
      document: ofQuota({ ...rest, left: undefined }) as never,
    }));
    expect((await ask("7/availability/")).json).toMatchObject({ available: true, available_number: null });
    expect(app.peers.requestsOf("getDocument")).toMatchObject([{ id: 7, withAvailability: true }, {}]);
    app.peers.when("catalogue", "listDocuments", async () => ({
      ...{ documents: [ofQuota() as never], count: 1, page: 1, asOf: 1, isUnchanged: false },
    }));
    expect((await ask("?with_availability=true")).json).toMatchObject({
      results: [{ size: 1000, available: true, available_number: 419 }],
    });
  });

  it("[E2.11] have no time of their last change where they show what is left", async () => {
    const changedAt = Date.UTC(2026, 10, 21, 12) * 1000;
    app.peers.when("catalogue", "listDocuments", async () => ({
      ...{ documents: [ofQuota() as never], count: 1, page: 1, asOf: 1, changedAt, isUnchanged: false },
    }));
    const since = { "if-modified-since": "Sat, 21 Nov 2026 12:00:00 GMT" };
    const answers = await Promise.all(
      ["", "?with_availability=true"].map((query) =>
        app.send("GET", `${inEvent}/quotas/${query}`, { key: devices.full, headers: since }),
      ),
    );
    expect(answers.map(({ headers }) => headers["last-modified"])).toEqual([since["if-modified-since"], undefined]);
    const asked = app.peers.requestsOf("listDocuments") as ListDocumentsRequest[];
    expect(asked.map(({ knownAsOf }) => knownAsOf).sort()).toEqual([changedAt, undefined]);
  });

  it("[E2.3] are asked for by date and items", async () => {
    await ask("?subevent=4&items__in=1,2&ordering=-size");
    expect(app.peers.requestsOf("listDocuments")).toMatchObject([
      { subevent: 4, items: { ids: [1, 2] }, ordering: ["-size"], withAvailability: undefined },
    ]);
    expect(await ask("?items__in=1,x")).toMatchObject({ status: 400, json: { items__in: [expect.any(String)] } });
  });
});

describe("lists that tell when they changed", () => {
  const changedAt = Date.UTC(2026, 10, 21, 12) * 1000;
  const date = "Sat, 21 Nov 2026 12:00:00 GMT";
  beforeEach(() => {
    app.peers.when("catalogue", "listDocuments", async ({ kind, knownAsOf }: ListDocumentsRequest) =>
      knownAsOf === undefined
        ? { documents: [documentOf(kind)], count: 60, page: 1, asOf: 1, changedAt, isUnchanged: false }
        : { documents: [], count: 0, page: 0, asOf: 1, changedAt, isUnchanged: true },
    );
  });
  const askSince = (path: string, since: string) =>
    app.send("GET", path, { key: devices.scan, headers: { "if-modified-since": since } });

  it.each(["categories/", "items/", "questions/", "subevents/", "items/?active=true&page=2"])(
    "[E2.9] are 304 where nothing has changed since: %s",
    async (name) => {
      const path = `${inEvent}/${name}`;
      expect((await send(path)).headers).toMatchObject({
        "last-modified": date,
        "x-page-generated": expect.any(String),
      });
      const again = await askSince(path, date);
      expect([again.status, again.text, again.headers["last-modified"]]).toEqual([304, "", date]);
      expect(again.headers).not.toHaveProperty("x-page-generated");
      expect(app.peers.requestsOf("listDocuments")).toMatchObject([{ knownAsOf: undefined }, { knownAsOf: changedAt }]);
      const early = { "if-unmodified-since": "Sat, 21 Nov 2026 11:59:59 GMT" };
      expect((await app.send("GET", path, { key: devices.scan, headers: early })).status).toBe(412);
    },
  );

  it("[E2.9] ignore a date in a form of the client's own, which it sends after its filter changed", async () => {
    for (const since of [
      "Sat Nov 21 12:00:00 UTC 2026",
      "Sat Nov 21 13:00:00 GMT+01:00 2026",
      "2026-11-21",
      "yesterday",
    ])
      expect((await askSince(`${inEvent}/items/`, since)).status, since).toBe(200);
  });

  it.each([`${organizer}/subevents/`, `${organizer}/events/`, `${inEvent}/revokedsecrets/`])(
    "[A11.7] are not all lists: %s",
    async (path) => {
      const { status, headers } = await askSince(path, date);
      expect([status, headers["last-modified"]]).toEqual([200, undefined]);
    },
  );
});

describe("what is shown otherwise than it was sent", () => {
  it("[E2.6] questions and options without an identifier are called by their ids", async () => {
    const options = [{ id: 11, identifier: null, position: 1, answer: { en: "x" } }];
    app.peers.when("catalogue", "getDocument", async () => ({
      document: documentOf(DocumentKind.QUESTION, { identifier: null, options }),
    }));
    const { id } = catalogueExamples.question.answer;
    expect((await send(`${inEvent}/questions/${id}/`)).json).toMatchObject({
      identifier: String(id),
      options: [{ id: 11, identifier: "11" }],
    });
  });

  it("[E2.13] an item shows what follows from its fields", async () => {
    const { sales_channels: _channels, ...bare } = catalogueExamples.item.answer;
    const variations = [
      { id: 1, price: null, default_price: null },
      { id: 2, price: null, default_price: "12.00" },
      { id: 3, price: "11.00", default_price: "12.00" },
    ];
    const shows = async (more: object) => {
      const json = Buffer.from(JSON.stringify({ ...bare, ...more }));
      app.peers.when("catalogue", "getDocument", async () => ({ document: { event: "", json } }));
      return (await send(`${inEvent}/items/1/`)).json;
    };
    expect(await shows({ default_price: "23.00", variations, has_variations: false })).toMatchObject({
      has_variations: true,
      variations: [{ price: "23.00" }, { price: "12.00" }, { price: "11.00" }],
    });
    expect(await shows({ has_variations: true })).toMatchObject({ has_variations: false, sales_channels: ["web"] });
    const limited = { all_sales_channels: false, limit_sales_channels: ["box-office", "app"] };
    expect(await shows(limited)).toMatchObject({ sales_channels: ["box-office", "app"] });
  });

  it.each([
    ["none", {}, { pretix_sig1: [] }],
    ["nothing", { valid_keys: null }, { pretix_sig1: [] }],
    ["no keys", { valid_keys: {} }, { pretix_sig1: [] }],
    ["its own", { valid_keys: { pretix_sig1: ["abc", "def"] } }, { pretix_sig1: ["abc", "def"] }],
    ["those of another scheme", { valid_keys: { other: ["x"] } }, { pretix_sig1: [], other: ["x"] }],
  ])("[E5.5] an event has the keys of its record: %s", async (_name, sent, expected) => {
    const { valid_keys: _keys, best_availability_state: _state, ...data } = catalogueExamples.event.answer;
    app.peers.when("catalogue", "getDocument", async () => ({
      document: { event: "", json: Buffer.from(JSON.stringify({ ...data, ...sent })) },
    }));
    expect((await send(`${inEvent}/`)).json).toMatchObject({ valid_keys: expected });
  });

  it.each([
    [[], null, []],
    [[{ id: 5, event: "e" }], 5, [5]],
    [
      [
        { id: 6, event: "e" },
        { id: 7, event: "f" },
      ],
      6,
      [6, 7],
    ],
  ])("[E2.7] media name the ids of their tickets: %j", async (links, first, all) => {
    app.peers.when("catalogue", "listDocuments", async () => ({
      ...{
        documents: [documentOf(DocumentKind.REUSABLE_MEDIUM, { ...medium, linked_orderpositions: links })],
        count: 1,
        page: 1,
        asOf: 1,
        isUnchanged: false,
      },
    }));
    expect((await send(`${organizer}/reusablemedia/`)).json).toMatchObject({
      results: [{ ...medium, linked_orderposition: first, linked_orderpositions: all }],
    });
  });

  it("[E1.8] media name no ticket of events that the credentials are not for", async () => {
    const links = [
      { id: 5, event: "sampleconf" },
      { id: 6, event: "other" },
    ];
    app.peers.when("catalogue", "listDocuments", async () => ({
      ...{ documents: [documentOf(DocumentKind.REUSABLE_MEDIUM, { ...medium, linked_orderpositions: links })] },
      ...{ count: 1, page: 1, asOf: 1, isUnchanged: false },
    }));
    const { json } = await send(`${organizer}/reusablemedia/`, keys.otherEvent);
    expect(json).toMatchObject({ results: [{ linked_orderposition: 6, linked_orderpositions: [6] }] });
  });

  it.each(["blocked", "revoked"])("[S5.7] devices in public see no %s code", async (kind) => {
    const page = await send(`${inEvent}/${kind}secrets/`, devices.kiosk);
    expect([page.status, page.json]).toEqual([200, { count: 0, next: null, previous: null, results: [] }]);
    expect(app.peers.requestsOf("listDocuments")).toEqual([]);
  });

  it("[E2.8] badges are empty pages", async () => {
    for (const path of ["badgelayouts/", "badgeitems/"])
      expect((await send(`${inEvent}/${path}`)).json).toEqual({ count: 0, next: null, previous: null, results: [] });
  });
});

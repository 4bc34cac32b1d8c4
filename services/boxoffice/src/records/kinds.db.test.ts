import { createHash } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { toSentence } from "@tessera/records/validate";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { type PublishedFact, takeFacts } from "../testing/facts.ts";
import { position, record, sample, type TestRecord } from "../testing/records.ts";

let database: TestDatabase;
let db: Db;
let office: BoxOffice;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "boxoffice", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("boxoffice");
  office = boxOfficeOn(db);
});

beforeEach(async () => {
  await emptyTables(db);
});

// A statement that fails shows here alone: its records are stored one by one, and no caller notices.
afterEach(() => expect(office.logged).toEqual([]));

afterAll(() => database.drop());

/** Something of every kind that others refer to. */
const surroundings = [
  sample.organizer(),
  sample.salesChannel(),
  sample.gate(),
  sample.event(),
  sample.taxRule(),
  sample.category(),
  sample.item(),
];

const hashOf = (token: string) => createHash("sha256").update(token).digest();

const deleted = (kind: string, key: object) => record(kind, key, { deleted: true });

/** How many rows a table has. */
async function count(table: string): Promise<number> {
  return (await db.one<{ count: number }>(sql`select count(*) as count from ${identifier(table)}`)).count;
}

/** The only row of a table, as text. */
async function rowOf(name: string): Promise<string> {
  const table = identifier(name);
  return (await db.one<{ row: string }>(sql`select ${table}::text as row from ${table}`)).row;
}

/** The document of the only row of a table, or the one with an id. */
async function documentOf(table: string, id?: number): Promise<Record<string, unknown>> {
  const condition = id === undefined ? sql`true` : sql`id = ${id}`;
  return (
    await db.one<{ data: Record<string, unknown> }>(sql`select data from ${identifier(table)} where ${condition}`)
  ).data;
}

interface Life {
  readonly kind: string;
  readonly table: string;
  readonly before: readonly TestRecord[];
  readonly created: TestRecord;
  readonly changed: TestRecord;
  readonly key: object;
  /** What is published when it is created; undefined where the kind publishes nothing. */
  readonly fact?: { readonly topic: string; readonly key: string; readonly value: object };
  readonly changedFact?: object;
}

const apiKeyId = hashOf("key-in-clear-text").toString("hex");

const lives: readonly Life[] = [
  {
    kind: "organizer",
    table: "organizer",
    before: [],
    created: sample.organizer(),
    changed: sample.organizer({ name: "Renamed" }),
    key: { slug: "org" },
  },
  {
    kind: "sales_channel",
    table: "sales_channel",
    before: [sample.organizer()],
    created: sample.salesChannel({ label: { en: "Shop" } }),
    changed: sample.salesChannel({ position: 2 }),
    key: { identifier: "api.shop" },
    fact: {
      topic: "sales-channel-changed",
      key: "org//api.shop",
      value: { organizer: "org", identifier: "api.shop" },
    },
  },
  {
    kind: "gate",
    table: "gate",
    before: [sample.organizer()],
    created: sample.gate(),
    changed: sample.gate({ name: "South" }),
    key: { id: "1" },
  },
  {
    kind: "api_key",
    table: "credential",
    before: [sample.organizer(), sample.event()],
    created: sample.apiKey({ name: "Key", permissions: ["can_view_orders", "can_checkin_orders"], events: ["fest"] }),
    changed: sample.apiKey({ all_events: true, permissions: ["*", "can_view_orders"], active: "no" }),
    key: { token: "key-in-clear-text" },
    fact: {
      topic: "credential-changed",
      key: `org//CREDENTIAL_KIND_API_KEY:${apiKeyId}`,
      value: {
        organizer: "org",
        kind: "CREDENTIAL_KIND_API_KEY",
        id: apiKeyId,
        tokenHash: hashOf("key-in-clear-text"),
        name: "Key",
        permissions: ["event.orders:checkin", "event.orders:read"],
        allEvents: false,
        events: ["fest"],
        active: true,
        device: undefined,
      },
    },
    changedFact: { permissions: ["*"], allEvents: true, events: [], active: false, name: "" },
  },
  {
    kind: "device",
    table: "credential",
    before: [sample.organizer(), sample.gate()],
    created: sample.device({
      name: "Scanner",
      gate: 1,
      security_profile: "pretixscan_online_kiosk",
      software_brand: "pretixSCAN",
      all_events: true,
    }),
    changed: sample.device({ token: null, security_profile: "own", software_brand: null, revoked: true }),
    key: { device_id: 1 },
    fact: {
      topic: "credential-changed",
      key: "org//CREDENTIAL_KIND_DEVICE:1",
      value: {
        kind: "CREDENTIAL_KIND_DEVICE",
        id: "1",
        tokenHash: hashOf("device-in-clear-text"),
        name: "Scanner",
        permissions: ["event.orders:read", "event.orders:write", "event.vouchers:read"],
        allEvents: true,
        active: true,
        device: {
          deviceId: 1,
          gate: { id: 1, name: "North" },
          securityProfile: "pretixscan_online_kiosk",
          softwareBrand: "pretixSCAN",
        },
      },
    },
    changedFact: {
      tokenHash: undefined,
      active: false,
      device: { deviceId: 1, gate: undefined, securityProfile: "pretixscan", softwareBrand: "" },
    },
  },
  {
    kind: "event",
    table: "event",
    before: [sample.organizer()],
    created: sample.event({ timezone: "Europe/Berlin", date_to: "2026-07-02T18:00:00.5Z" }),
    changed: sample.event({ name: { de: "Fest" } }),
    key: { slug: "fest" },
    fact: {
      topic: "event-changed",
      key: "org/fest/",
      value: {
        organizer: "org",
        event: "fest",
        name: { en: "Festival" },
        timezone: "Europe/Berlin",
        locale: "en",
        hasSubevents: false,
        dateFrom: Date.parse("2026-07-01T16:00:00Z") * 1000,
        dateTo: Date.parse("2026-07-02T18:00:00.5Z") * 1000,
        dateAdmission: undefined,
        ticketDownload: { pdfEnabled: true, addons: false, nonAdmission: true, pending: false },
      },
    },
    changedFact: { name: { de: "Fest" }, timezone: "UTC", dateTo: undefined },
  },
  {
    kind: "subevent",
    table: "subevent",
    before: [sample.organizer(), sample.event({ has_subevents: true })],
    created: sample.subevent(),
    changed: sample.subevent({ active: false, date_admission: "2026-07-01T17:00Z" }),
    key: { id: 1 },
    fact: {
      topic: "subevent-changed",
      key: "org/fest/1",
      value: {
        organizer: "org",
        event: "fest",
        id: 1,
        name: { en: "Friday" },
        active: true,
        dateFrom: Date.parse("2026-07-01T18:00:00Z") * 1000,
        dateTo: undefined,
      },
    },
    changedFact: { active: false, dateAdmission: Date.parse("2026-07-01T17:00:00Z") * 1000 },
  },
  {
    kind: "tax_rule",
    table: "tax_rule",
    before: [sample.organizer(), sample.event()],
    created: sample.taxRule(),
    changed: sample.taxRule({ rate: 7 }),
    key: { id: 1 },
  },
  {
    kind: "category",
    table: "category",
    before: [sample.organizer(), sample.event()],
    created: sample.category({ position: 3 }),
    changed: sample.category(),
    key: { id: 1 },
    fact: {
      topic: "category-changed",
      key: "org/fest/1",
      value: { organizer: "org", event: "fest", id: 1, position: 3 },
    },
    changedFact: { position: 0 },
  },
  {
    kind: "item",
    table: "item",
    before: [sample.organizer(), sample.event(), sample.category()],
    created: sample.item({
      internal_name: "vip",
      admission: true,
      category: 1,
      position: 4,
      checkin_attention: true,
      checkin_text: "Give a badge",
      generate_tickets: false,
      variations: [{ id: 5, value: { en: "Red" }, position: 1, checkin_text: "red one", checkin_attention: true }],
    }),
    changed: sample.item(),
    key: { id: 1 },
    fact: {
      topic: "item-changed",
      key: "org/fest/1",
      value: {
        organizer: "org",
        event: "fest",
        id: 1,
        name: { en: "Ticket" },
        internalName: "vip",
        admission: true,
        category: 1,
        position: 4,
        checkinAttention: true,
        checkinText: "Give a badge",
        generateTickets: false,
        variations: [{ id: 5, value: { en: "Red" }, position: 1, checkinAttention: true, checkinText: "red one" }],
      },
    },
    changedFact: { internalName: undefined, category: undefined, generateTickets: undefined, variations: [] },
  },
  {
    kind: "quota",
    table: "quota",
    before: [sample.organizer(), sample.event(), sample.item()],
    created: sample.quota(),
    changed: sample.quota({ items: [] }),
    key: { id: 1 },
    fact: {
      topic: "quota-changed",
      key: "org/fest/1",
      value: { organizer: "org", event: "fest", id: 1, items: [1], variations: [], subevent: undefined },
    },
    changedFact: { items: [] },
  },
  {
    kind: "order",
    table: "order",
    before: [sample.organizer(), sample.event(), sample.item()],
    created: sample.order(),
    changed: sample.order({ status: "c" }),
    key: { code: "ABCDE" },
    fact: {
      topic: "position-changed",
      key: "org/fest/1",
      value: {
        organizer: "org",
        event: "fest",
        earlierCheckins: [],
        position: expect.objectContaining({ id: 1, item: 1 }),
      },
    },
    changedFact: {
      position: expect.objectContaining({ order: expect.objectContaining({ status: "ORDER_STATUS_CANCELED" }) }),
    },
  },
];

describe.each(lives)("a $kind", (life) => {
  beforeEach(async () => {
    expect(await office.apply(...life.before)).toEqual({});
    await takeFacts(db);
  });

  it("[R4.1] is stored and published", async () => {
    expect(await office.apply(life.created)).toEqual({});
    expect(await count(life.table)).toBe(1);
    expect(await takeFacts(db)).toEqual(
      life.fact === undefined
        ? []
        : [{ topic: life.fact.topic, key: life.fact.key, value: expect.objectContaining(life.fact.value) as unknown }],
    );
  });

  it("[R5.1] changes nothing when it is sent again", async () => {
    await office.apply(life.created);
    const before = await rowOf(life.table);
    await takeFacts(db);
    expect(await office.apply(life.created)).toEqual({});
    expect(await rowOf(life.table)).toEqual(before);
    expect(await takeFacts(db)).toEqual([]);
  });

  it("[R5.2] is replaced, with a larger revision", async () => {
    await office.apply(life.created);
    const [first] = await takeFacts(db);
    const stored = await db.one<{ revision: number }>(sql`select revision from ${identifier(life.table)}`);
    expect(await office.apply(life.changed)).toEqual({});
    const [second, ...rest] = await takeFacts(db);
    const replaced = await db.one<{ revision: number }>(sql`select revision from ${identifier(life.table)}`);
    expect(replaced.revision).toBeGreaterThan(stored.revision);
    expect(rest).toEqual([]);
    if (life.fact === undefined) {
      expect(second).toBeUndefined();
      return;
    }
    expect(second?.value).toMatchObject(life.changedFact ?? {});
    expect(revisionOf(second)).toBeGreaterThan(revisionOf(first));
  });

  it("[R2.6, R2.7, R5.5] is removed, which may be repeated, and comes back with a larger revision", async () => {
    await office.apply(life.created);
    const [first] = await takeFacts(db);
    expect(await office.apply(deleted(life.kind, life.key))).toEqual({});
    expect(await count(life.table)).toBe(0);
    expect(await takeFacts(db)).toEqual(
      life.fact === undefined ? [] : [{ topic: life.fact.topic, key: life.fact.key, value: null }],
    );
    expect(await office.apply(deleted(life.kind, life.key))).toEqual({});
    expect(await takeFacts(db)).toEqual([]);
    expect(await office.apply(...life.before, life.created)).toEqual({});
    if (life.fact !== undefined) expect(revisionOf((await takeFacts(db)).at(-1))).toBeGreaterThan(revisionOf(first));
  });
});

function revisionOf(fact: PublishedFact | undefined): number {
  return Number(fact?.value?.["revision"]);
}

describe("settings of an event", () => {
  beforeEach(async () => {
    await office.apply(sample.organizer(), sample.event());
    await takeFacts(db);
  });

  const settings = sample.eventSettings({
    locale: "de-informal",
    timezone: "Asia/Tokyo",
    ticketoutput_pdf__enabled: false,
    ticket_download_addons: true,
    ticket_download_nonadm: false,
    ticket_download_pending: true,
    unknown: 1,
  });

  it("[R2.3, R2.5, R3.15] are published as part of it", async () => {
    expect(await office.apply(settings)).toEqual({});
    const [fact, ...rest] = await takeFacts(db);
    expect(rest).toEqual([]);
    expect(fact).toMatchObject({
      topic: "event-changed",
      value: {
        locale: "de-informal",
        timezone: "Asia/Tokyo",
        ticketDownload: { pdfEnabled: false, addons: true, nonAdmission: false, pending: true },
      },
    });
    const { settings: stored } = await db.one<{ settings: object }>(sql`select settings from event`);
    expect(stored).toMatchObject({ ticket_secret_length: 32, name_scheme: "full" });
    expect(stored).not.toHaveProperty("unknown");
  });

  it("[R3.16, R3.17] stay when the event changes, and yield to its own zone", async () => {
    await office.apply(settings);
    await office.apply(sample.event({ timezone: "Europe/Berlin" }));
    const fact = (await takeFacts(db)).at(-1);
    expect(fact?.value).toMatchObject({ locale: "de-informal", timezone: "Europe/Berlin" });
    expect(JSON.parse(Buffer.from(fact?.value?.["document"] as Uint8Array).toString())).toMatchObject({
      slug: "fest",
      timezone: "Europe/Berlin",
      date_from: "2026-07-01T16:00:00Z",
      currency: "EUR",
      plugins: [],
      location: null,
    });
  });

  it("[R3.15] return to their defaults when they are removed", async () => {
    await office.apply(settings, sample.eventSettings(), deleted("event_settings", {}));
    expect((await takeFacts(db)).map(({ value }) => value?.["locale"])).toEqual(["de-informal", "en", "en"]);
    await office.apply(deleted("event_settings", {}));
    expect(await takeFacts(db)).toEqual([]);
  });

  it("need their event", async () => {
    expect(await office.apply({ ...settings, event: "other" })).toEqual({
      1: { event: ["The event is not known; its record must come first."] },
    });
  });
});

describe("documents", () => {
  it("[R2.3, R2.5, R3.25] hold known fields with their defaults and no others", async () => {
    await office.apply(
      ...surroundings,
      sample.item({ id: 2, unknown: 1, variations: [{ id: 3, value: {}, unknown: 2 }] }),
    );
    const item = await documentOf("item", 2);
    expect(item).toMatchObject({
      default_price: "0.00",
      has_variations: true,
      variations: [{ id: 3, active: true, price: null }],
    });
    expect(JSON.stringify(item)).not.toContain("unknown");
  });
});

describe("what does not fit together", () => {
  const notKnown = (what: string) => [
    `${what.charAt(0).toUpperCase()}${what.slice(1)} is not known; its record must come first.`,
  ];
  const inElement = (number: number, messages: string[]) => messages.map((message) => `Element ${number}: ${message}`);

  it.each<[string, TestRecord, Record<string, unknown>]>([
    ["an unknown organizer", { ...sample.gate(), organizer: "other" }, { organizer: notKnown("the organizer") }],
    ["the organizer of an event", { ...sample.event(), organizer: "other" }, { organizer: notKnown("the organizer") }],
    ["an unknown event", { ...sample.category(), event: "other" }, { event: notKnown("the event") }],
    ["the event of another organizer", { ...sample.category(), organizer: "second" }, { event: notKnown("the event") }],
    [
      "the events of a key",
      sample.apiKey({ events: ["fest", "other", "foreign"] }),
      { events: [...inElement(2, notKnown("event")), ...inElement(3, notKnown("event"))] },
    ],
    [
      "the gate and events of a device",
      sample.device({ gate: 9, events: ["other"] }),
      { gate: notKnown("gate 9"), events: inElement(1, notKnown("event")) },
    ],
    [
      "a date of an event that is no series",
      sample.subevent(),
      { non_field_errors: ["The event is no series and has no dates of its own."] },
    ],
    [
      "what an item refers to",
      sample.item({
        id: 2,
        category: 9,
        tax_rule: 9,
        variations: [
          { id: 21, value: {} },
          { id: 21, value: {} },
          { id: 31, value: {} },
        ],
        addons: [{ addon_category: 1 }, { addon_category: 9 }],
        bundles: [
          { bundled_item: 2, bundled_variation: 21 },
          { bundled_item: 9 },
          { bundled_item: 3, bundled_variation: 21 },
        ],
      }),
      {
        category: notKnown("category 9"),
        tax_rule: notKnown("tax rule 9"),
        "variations.1.id": ["Variation 21 occurs twice."],
        "variations.2.id": ["Variation 31 belongs to another item."],
        "addons.1.addon_category": notKnown("category 9"),
        "bundles.1.bundled_item": notKnown("item 9"),
        "bundles.2.bundled_variation": ["Item 3 has no variation 21."],
      },
    ],
    [
      "what a quota refers to",
      sample.quota({ items: [1, 9, 3], variations: [31, 9], subevent: 9 }),
      {
        items: inElement(2, notKnown("item 9")),
        variations: inElement(2, notKnown("variation 9")),
        subevent: notKnown("subevent 9"),
      },
    ],
    ["a series that stops being one", sample.event({ has_subevents: true }), { has_subevents: [expect.any(String)] }],
  ])("[R3.7, R3.13, R3.19, R3.21, R3.22, R5.4, R5.7] is %s", async (_name, sent, errors) => {
    await office.apply(
      ...surroundings,
      sample.item({ id: 3, variations: [{ id: 31, value: {} }] }),
      { ...sample.organizer({ slug: "second" }), organizer: "second" },
      { ...sample.event({ slug: "foreign" }), organizer: "second", event: "foreign" },
    );
    await takeFacts(db);
    expect(await office.apply(sent)).toEqual({ 1: errors });
    expect(await takeFacts(db)).toEqual([]);
  });

  it("[R8.8] is a quota of a series without a date", async () => {
    await office.apply(sample.organizer(), sample.event({ has_subevents: true }), sample.item());
    expect(Object.keys((await office.apply(sample.quota()))[1] ?? {})).toEqual(["subevent"]);
  });

  it("[R3.24, R5.4] is not an item that bundles one of the same batch, before or behind it", async () => {
    await office.apply(sample.organizer(), sample.event());
    const bundling = (id: number, bundled: number) => sample.item({ id, bundles: [{ bundled_item: bundled }] });
    expect(await office.apply(bundling(1, 2), bundling(2, 1), bundling(3, 3))).toEqual({});
    expect(await office.apply(bundling(4, 5), bundling(5, 6), bundling(6, 9), bundling(7, 1))).toEqual({
      1: { "bundles.0.bundled_item": notKnown("item 5") },
      2: { "bundles.0.bundled_item": notKnown("item 6") },
      3: { "bundles.0.bundled_item": notKnown("item 9") },
    });
  });
});

describe("tokens", () => {
  const taken = { token: ["This token belongs to another key or device."] };

  it("[R3.8, R3.10] belong to one key or device of all organizers", async () => {
    await office.apply(
      sample.organizer(),
      { ...sample.organizer({ slug: "second" }), organizer: "second" },
      sample.apiKey(),
      sample.device(),
    );
    expect(
      await office.apply(
        { ...sample.apiKey(), organizer: "second" },
        sample.device({ device_id: 2, token: "key-in-clear-text" }),
        sample.device({ device_id: 3, token: "device-in-clear-text" }),
        sample.device({ device_id: 4, token: "another-in-clear-text" }),
        sample.device({ device_id: 5, token: "another-in-clear-text" }),
        sample.device({ device_id: 6, token: null }),
        sample.device({ device_id: 7, token: null }),
      ),
    ).toEqual({ 1: taken, 2: taken, 3: taken, 5: taken });
    expect(await count("credential")).toBe(5);
  });

  it("[R3.9] may be replaced, and are free again then", async () => {
    await office.apply(sample.organizer(), sample.device(), sample.device({ token: "new-token-in-clear-text" }));
    expect(await office.apply(sample.device({ device_id: 2 }))).toEqual({});
    expect((await takeFacts(db)).map(({ value }) => value?.["tokenHash"])).toEqual(
      ["device-in-clear-text", "new-token-in-clear-text", "device-in-clear-text"].map(hashOf),
    );
  });

  it("[R4.5] are kept to the letter", async () => {
    await office.apply(sample.organizer(), sample.apiKey({ token: "!Signs-and-Case~" }));
    expect((await takeFacts(db)).map(({ value }) => value?.["tokenHash"])).toEqual([hashOf("!Signs-and-Case~")]);
  });

  it.each(["a", "fifteen-letters", "blanks in a token", "Schlüssel-für-alle", "sixteen-letters\t"])(
    "[R3.90] are not taken as short or unsendable as %j, and removals may still name them",
    async (token) => {
      await office.apply(sample.organizer());
      const refused = { token: ["A token has at least 16 characters, all of them ASCII and none of them blank."] };
      expect(await office.apply(sample.apiKey({ token }), sample.device({ token }))).toEqual({
        1: refused,
        2: refused,
      });
      expect(await office.apply(record("api_key", { token }, { deleted: true }))).toEqual({});
    },
  );
});

describe("a gate that is renamed", () => {
  it("[R3.5] is renamed in the facts of its devices too", async () => {
    await office.apply(
      sample.organizer(),
      sample.gate(),
      sample.gate({ id: 2 }),
      sample.device({ gate: 1 }),
      sample.device({ device_id: 2, token: null, gate: 2 }),
    );
    const before = await takeFacts(db);
    await office.apply(sample.gate({ name: "South" }));
    const [fact, ...rest] = await takeFacts(db);
    expect(rest).toEqual([]);
    expect(fact?.value).toMatchObject({
      id: "1",
      name: "",
      tokenHash: hashOf("device-in-clear-text"),
      device: { gate: { id: 1, name: "South" } },
    });
    expect(revisionOf(fact)).toBeGreaterThan(revisionOf(before.at(-1)));
    await office.apply(sample.gate({ name: "South", identifier: "S" }));
    expect(await takeFacts(db)).toHaveLength(1);
  });
});

describe("what is referred to", () => {
  beforeEach(async () => {
    await office.apply(
      ...surroundings,
      sample.taxRule({ id: 2 }),
      sample.category({ id: 2 }),
      sample.item({ id: 2, tax_rule: 1, category: 1, addons: [{ addon_category: 2 }] }),
      sample.item({
        id: 3,
        variations: [
          { id: 31, value: {} },
          { id: 32, value: {} },
          { id: 33, value: {} },
        ],
      }),
      sample.item({
        id: 4,
        bundles: [{ bundled_item: 2 }, { bundled_item: 3, bundled_variation: 32 }, { bundled_item: 4 }],
      }),
      sample.quota({ items: [3], variations: [31] }),
      sample.device({ gate: 1 }),
      sample.order({
        sales_channel: "api.shop",
        fees: [{ tax_rule: 2 }],
        positions: [position({ item: 3, variation: 31 })],
      }),
      { ...sample.event({ slug: "dates", has_subevents: true }), event: "dates" },
      { ...sample.subevent(), event: "dates" },
      { ...sample.subevent({ id: 2 }), event: "dates" },
      { ...sample.item(), event: "dates" },
      { ...sample.quota({ subevent: 1 }), event: "dates" },
      { ...sample.order({ positions: [position({ subevent: 1 })] }), event: "dates" },
    );
    await takeFacts(db);
  });

  it.each<[string, TestRecord, string]>([
    ["an organizer", deleted("organizer", { slug: "org" }), "events"],
    ["a sales channel", deleted("sales_channel", { identifier: "api.shop" }), "orders"],
    ["a gate", deleted("gate", { id: 1 }), "devices"],
    ["a date", { ...deleted("subevent", { id: 1 }), event: "dates" }, "positions and quotas"],
    ["a tax rule of an item", deleted("tax_rule", { id: 1 }), "items"],
    ["a tax rule of an order", deleted("tax_rule", { id: 2 }), "orders"],
    ["a category of an item", deleted("category", { id: 1 }), "items"],
    ["a category of add-ons", deleted("category", { id: 2 }), "items"],
    ["a bundled item", deleted("item", { id: 2 }), "other items"],
    ["a sold item", deleted("item", { id: 3 }), "other items and positions and quotas"],
  ])("[R3.2, R3.4, R3.20, R3.26, R5.6] stays: %s", async (_name, sent, users) => {
    expect(await office.apply(sent)).toEqual({
      1: { non_field_errors: [toSentence(`${users} refer to it; remove or change those first`)] },
    });
    expect(await takeFacts(db)).toEqual([]);
  });

  it.each<[string, TestRecord]>([
    ["the channel web, which exists without a record", deleted("sales_channel", { identifier: "web" })],
    ["a date that nothing is planned for", { ...deleted("subevent", { id: 2 }), event: "dates" }],
    ["an item that bundles only itself and others", deleted("item", { id: 4 })],
    ["an item of another event", { ...deleted("item", { id: 3 }), event: "dates" }],
  ])("[R3.3, R4.2] goes: %s", async (_name, sent) => {
    expect(await office.apply(sent)).toEqual({});
  });

  it("[R3.23] keeps variations in their item", async () => {
    expect(await office.apply(sample.item({ id: 3, variations: [{ id: 33, value: {} }] }))).toEqual({
      1: {
        variations: [
          "Positions and quotas refer to variation 31, which is missing here.",
          "Items refer to variation 32, which is missing here.",
        ],
      },
    });
    expect(
      await office.apply(
        sample.item({
          id: 3,
          variations: [
            { id: 31, value: {} },
            { id: 32, value: {} },
          ],
        }),
      ),
    ).toEqual({});
  });
});

describe("removing what others live in", () => {
  it("[R3.14, R4.2] takes everything of an event along, and nothing of another", async () => {
    const below = [sample.taxRule(), sample.category(), sample.item({ category: 1 }), sample.quota(), sample.order()];
    const elsewhere = below.map((sent) => ({ ...sent, event: "other" }));
    await office.apply(
      sample.organizer(),
      sample.event(),
      ...below,
      { ...sample.event({ slug: "other" }), event: "other" },
      ...elsewhere,
    );
    await takeFacts(db);
    expect(await office.apply(deleted("event", { slug: "fest" }))).toEqual({});
    expect((await takeFacts(db)).map(({ topic, key, value }) => [topic, key, value])).toEqual([
      ["event-changed", "org/fest/", null],
      ["position-changed", "org/fest/1", null],
      ["quota-changed", "org/fest/1", null],
      ["item-changed", "org/fest/1", null],
      ["category-changed", "org/fest/1", null],
    ]);
    for (const table of ["position", "order", "quota", "item", "category", "tax_rule", "event"])
      expect(await count(table)).toBe(1);
  });

  it("[R3.14] takes the dates of a series along", async () => {
    await office.apply(
      sample.organizer(),
      sample.event({ has_subevents: true }),
      sample.subevent(),
      sample.subevent({ id: 2 }),
    );
    await takeFacts(db);
    await office.apply(deleted("event", { slug: "fest" }));
    expect((await takeFacts(db)).map(({ key }) => key).sort()).toEqual(["org/fest/", "org/fest/1", "org/fest/2"]);
  });

  it("[R3.1] takes keys, devices, gates and channels of an organizer along", async () => {
    await office.apply(
      sample.organizer(),
      sample.gate(),
      sample.salesChannel(),
      sample.apiKey(),
      sample.device({ gate: 1 }),
    );
    await takeFacts(db);
    expect(await office.apply(deleted("organizer", { slug: "org" }))).toEqual({});
    const facts = await takeFacts(db);
    expect(facts.map(({ value }) => value)).toEqual([null, null, null]);
    expect(facts.map(({ key }) => key).sort()).toEqual([
      `org//CREDENTIAL_KIND_API_KEY:${apiKeyId}`,
      "org//CREDENTIAL_KIND_DEVICE:1",
      "org//api.shop",
    ]);
    for (const table of ["credential", "gate", "sales_channel", "organizer"]) expect(await count(table)).toBe(0);
  });
});

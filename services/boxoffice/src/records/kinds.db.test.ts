import { identifier, sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { apiKeyId, deleted, emptyOffice, hashOf, revisionOf, surroundings } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { sample, type TestRecord } from "../testing/records.ts";

const office = emptyOffice();

/** The only row of a table, as text. */
async function rowOf(name: string): Promise<string> {
  const table = identifier(name);
  return (await office.db.one<{ row: string }>(sql`select ${table}::text as row from ${table}`)).row;
}

/** The document of the only row of a table, or of the row with an id. */
async function documentOf(table: string, id?: number): Promise<Record<string, unknown>> {
  const condition = id === undefined ? sql`true` : sql`id = ${id}`;
  return (
    await office.db.one<{ data: Record<string, unknown> }>(
      sql`select data from ${identifier(table)} where ${condition}`,
    )
  ).data;
}

interface Life {
  readonly kind: string;
  readonly table: string;
  readonly before: readonly TestRecord[];
  readonly created: TestRecord;
  readonly changed: TestRecord;
  readonly key: object;
  /** The fact of its creation; undefined: the kind publishes none. */
  readonly fact?: { readonly topic: string; readonly key: string; readonly value: object };
  readonly changedFact?: object;
}

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
    await takeFacts(office.db);
  });

  it("[R4.1] is stored and published", async () => {
    expect(await office.apply(life.created)).toEqual({});
    expect(await office.count(life.table)).toBe(1);
    expect(await takeFacts(office.db)).toEqual(
      life.fact === undefined
        ? []
        : [{ topic: life.fact.topic, key: life.fact.key, value: expect.objectContaining(life.fact.value) as unknown }],
    );
  });

  it("[R5.1] changes nothing when it is sent again", async () => {
    await office.apply(life.created);
    const before = await rowOf(life.table);
    await takeFacts(office.db);
    expect(await office.apply(life.created)).toEqual({});
    expect(await rowOf(life.table)).toEqual(before);
    expect(await takeFacts(office.db)).toEqual([]);
  });

  it("[R5.2] is replaced, with a larger revision", async () => {
    await office.apply(life.created);
    const [first] = await takeFacts(office.db);
    const stored = await office.db.one<{ revision: number }>(sql`select revision from ${identifier(life.table)}`);
    expect(await office.apply(life.changed)).toEqual({});
    const [second, ...rest] = await takeFacts(office.db);
    const replaced = await office.db.one<{ revision: number }>(sql`select revision from ${identifier(life.table)}`);
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
    const [first] = await takeFacts(office.db);
    expect(await office.apply(deleted(life.kind, life.key))).toEqual({});
    expect(await office.count(life.table)).toBe(0);
    expect(await takeFacts(office.db)).toEqual(
      life.fact === undefined ? [] : [{ topic: life.fact.topic, key: life.fact.key, value: null }],
    );
    expect(await office.apply(deleted(life.kind, life.key))).toEqual({});
    expect(await takeFacts(office.db)).toEqual([]);
    expect(await office.apply(...life.before, life.created)).toEqual({});
    if (life.fact !== undefined)
      expect(revisionOf((await takeFacts(office.db)).at(-1))).toBeGreaterThan(revisionOf(first));
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

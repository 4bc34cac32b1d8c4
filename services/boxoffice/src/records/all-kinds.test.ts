import { recordKinds } from "@tessera/protos/record-kinds";
import { compileRecordReader } from "@tessera/records/read-record";
import { UnknownKeys } from "@tessera/records/unknown-keys";
import { describe, expect, it } from "vitest";
import { position, record, sample, sendOne, type TestRecord } from "../testing/records.ts";
import { kinds } from "./all-kinds.ts";

const readRecord = compileRecordReader(kinds);

/** Reads one record and returns its warnings, or its errors. */
async function errorsOf(sent: TestRecord): Promise<Readonly<Record<string, readonly string[]>>> {
  const read = await readRecord(sendOne(sent), new UnknownKeys());
  return read.ok ? read.value.warnings : read.errors;
}

const checkin = { id: 5, list: 3, datetime: "2026-07-01T18:00:00Z", type: "entry" };

const fieldsOf = async (sent: TestRecord) => Object.keys(await errorsOf(sent)).sort();

describe("a record of boxoffice", () => {
  it.each(Object.values(sample).map((make) => [make().kind, make()] as const))(
    "reads the least of a %s",
    async (_kind, sent) => {
      expect(await errorsOf(sent)).toEqual({});
    },
  );

  it("is of any kind that boxoffice owns, and every kind has its key", () => {
    const owned = Object.entries(recordKinds).filter(([, { owner }]) => owner === "boxoffice");
    expect(kinds.map(({ name }) => name).sort()).toEqual(owned.map(([name]) => name).sort());
    for (const { name, schema } of kinds) {
      const { key } = recordKinds[name];
      if (key !== null) expect(schema["required"]).toContain(key);
    }
  });

  it("[R3.62] refuses kinds that it does not take", async () => {
    expect(await errorsOf(record("voucher", {}))).toEqual({
      kind: ["Records of kind voucher are not taken by this version."],
    });
    expect(await errorsOf(record("constructor", {}))).toEqual({
      kind: [expect.stringMatching(/^There is no such kind of record\. The kinds are organizer, .*order, /)],
    });
  });

  it.each([
    ["event.oders:read", "Did you mean event.orders:read?"],
    ["nonsense", "Examples: event.orders:read"],
  ])("[R3.6] says which permission was meant by %s", async (name, hint) => {
    const { permissions } = await errorsOf(sample.apiKey({ permissions: ["*", name] }));
    expect(permissions).toEqual([expect.stringContaining(hint)]);
  });

  it.each([
    ["another organizer", record("organizer", { slug: "org", name: "N" }, { organizer: "other" }), "slug"],
    ["another event", record("event", { ...(sample.event().data as object), slug: "other" }), "slug"],
    ["another event to remove", record("event", { slug: "other" }, { deleted: true }), "slug"],
  ])("[R2.8] refuses a record with %s", async (_name, sent, field) => {
    expect(await fieldsOf(sent)).toEqual([field]);
  });

  it.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["null", "null"],
    ["a number", "5"],
    ["deep nesting", `{"id": 1, "custom_rules": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
  ])("refuses data that is %s", async (_name, data) => {
    const errors = await errorsOf(record("tax_rule", data));
    expect(Object.keys(errors).length).toBeGreaterThan(0);
  });

  it("refuses bytes that are no text", async () => {
    const sent = { ...sendOne(sample.gate()), data: Uint8Array.of(0x22, 0xff, 0x22) };
    const read = await readRecord(sent, new UnknownKeys());
    expect(read.ok ? [] : Object.keys(read.errors)).toEqual(["non_field_errors"]);
  });

  it.each([
    ["organizer", { slug: "a/b", name: [] }, ["name", "slug"]],
    [
      "sales_channel",
      { identifier: "", label: 5, type: null, position: "x" },
      ["identifier", "label", "position", "type"],
    ],
    ["gate", { id: 0, name: null, identifier: {} }, ["id", "identifier", "name"]],
    [
      "api_key",
      {
        token: "",
        name: [],
        permissions: ["*", "can_fly", 5],
        all_events: null,
        events: ["ok", "a/b"],
        active: "perhaps",
      },
      ["active", "all_events", "events", "name", "permissions", "token"],
    ],
    [
      "device",
      {
        device_id: "x",
        token: "",
        name: null,
        gate: "G",
        security_profile: 5.5,
        software_brand: [],
        all_events: 2,
        events: {},
        revoked: "",
      },
      ["all_events", "device_id", "events", "gate", "name", "revoked", "software_brand", "token"],
    ],
    [
      "event",
      {
        slug: "-",
        name: { en: null },
        date_from: "soon",
        date_to: 5,
        currency: "EURO",
        timezone: "Mars/Olympus",
        geo_lat: 91,
        live: "x",
        plugins: "p",
        meta_data: { a: [] },
      },
      ["currency", "date_from", "date_to", "geo_lat", "live", "meta_data", "name", "plugins", "slug", "timezone"],
    ],
    [
      "event_settings",
      {
        locale: "",
        locales: "en",
        timezone: "utc+1",
        ticket_secret_length: 11,
        ticketoutput_pdf__enabled: "x",
        event_info_text: { en: 5.5, de: [] },
      },
      ["event_info_text", "locale", "locales", "ticket_secret_length", "ticketoutput_pdf__enabled", "timezone"],
    ],
    [
      "subevent",
      { id: 2 ** 50 + 2, name: "x", date_from: null, active: [], item_price_overrides: [{ price: "x" }] },
      ["active", "date_from", "id", "item_price_overrides.0.item", "item_price_overrides.0.price", "name"],
    ],
    [
      "tax_rule",
      { id: "1.5", name: [], rate: "19,00", code: {}, default: "x" },
      ["code", "default", "id", "name", "rate"],
    ],
    ["category", { id: -1, name: { en: {} }, position: 1.5, is_addon: null }, ["id", "is_addon", "name", "position"]],
    [
      "item",
      {
        id: null,
        name: { en: "x\u0000" },
        default_price: "1.234",
        generate_tickets: "x",
        validity_mode: "never",
        variations: [{ id: 0, price: "x" }],
        addons: [{ max_count: -1 }],
        bundles: [{ bundled_item: "x", count: 0 }],
      },
      [
        "addons.0.addon_category",
        "addons.0.max_count",
        "bundles.0.bundled_item",
        "bundles.0.count",
        "default_price",
        "generate_tickets",
        "id",
        "name",
        "validity_mode",
        "variations.0.id",
        "variations.0.price",
      ],
    ],
    [
      "quota",
      { id: {}, size: -1, items: [0], variations: 5, subevent: "x" },
      ["id", "items", "size", "subevent", "variations"],
    ],
    [
      "order",
      {
        code: "",
        status: "x",
        datetime: "",
        total: "NaN",
        invoice_address: { is_business: "x", name_parts: [] },
        fees: [{ value: "x" }],
        positions: [
          {
            id: 0,
            positionid: 0,
            item: null,
            secret: "",
            price: "x",
            seat: {},
            blocked: "x",
            answers: [{ answer: "a" }],
            checkins: [{ id: 1, type: "x" }],
          },
          { id: 1, positionid: 1, item: 1, secret: "x".repeat(1001), seat: "", attendee_name_parts: { a: [] } },
        ],
      },
      [
        "code",
        "datetime",
        "fees.0.value",
        "invoice_address.is_business",
        "invoice_address.name_parts",
        "positions.0.answers.0.question",
        "positions.0.blocked",
        "positions.0.checkins.0.datetime",
        "positions.0.checkins.0.list",
        "positions.0.checkins.0.type",
        "positions.0.id",
        "positions.0.item",
        "positions.0.positionid",
        "positions.0.price",
        "positions.0.seat.seat_guid",
        "positions.0.secret",
        "positions.1.attendee_name_parts",
        "positions.1.seat",
        "positions.1.secret",
        "status",
        "total",
      ],
    ],
  ])("[R2.4, R3.6, R3.18, R4.4] names every wrong field of a %s", async (kind, data, fields) => {
    expect(await fieldsOf(record(kind, data))).toEqual(fields);
  });

  it.each(kinds.map(({ name }) => name).filter((kind) => kind !== "event_settings"))(
    "[R2.6] needs the key to remove a %s",
    async (kind) => {
      expect(await fieldsOf(record(kind, {}, { deleted: true }))).toHaveLength(1);
    },
  );

  it.each([
    ["a position twice", [position(), position({ positionid: 2 })], ["positions.1"]],
    [
      "two scans of a position under one id",
      [position({ checkins: [checkin, checkin, { ...checkin, type: "exit" }] })],
      ["positions.0.checkins.2.id"],
    ],
    ["an add-on to nothing", [position({ addon_to: 5 })], ["positions.0.addon_to"]],
    ["an add-on to itself", [position({ addon_to: 1 })], ["positions.0.addon_to"]],
    [
      "a long answer",
      [position({ answers: [{ question: 1, answer: "A".repeat(65_537) }] })],
      ["positions.0.answers.0.answer"],
    ],
  ])("[R3.39, R3.49] warns of an order with %s", async (_name, positions, fields) => {
    expect(await fieldsOf(sample.order({ positions }))).toEqual(fields);
  });

  it("[R3.39, R3.44] takes a file and an add-on", async () => {
    const file = `data:image/png;base64,${"A".repeat(1_000_000)}`;
    const positions = [
      position({ answers: [{ question: 1, answer: file }] }),
      position({ id: 2, positionid: 2, addon_to: 1 }),
    ];
    expect(await errorsOf(sample.order({ positions }))).toEqual({});
  });

  it.each(["name", "secret", "attendee_email", "token"])(
    "[R10.1] does not repeat what is wrong with %s",
    async (field) => {
      const hidden = "hidden-value";
      const wrong = `${hidden}\u0000`;
      const sent = [
        sample.order({
          email: wrong,
          positions: [position({ [field]: [hidden], attendee_name: wrong, secret: [hidden], blocked: hidden })],
        }),
        sample.apiKey({ token: [hidden], permissions: [hidden] }),
        sample.device({ token: wrong, security_profile: [hidden] }),
        record("order", `{"code": "${hidden}`),
      ];
      for (const each of sent) expect(JSON.stringify(await errorsOf(each))).not.toContain(hidden);
    },
  );
});

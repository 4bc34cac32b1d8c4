import { sql } from "@tessera/kit/pg/sql";
import { toSentence } from "@tessera/records/validate";
import { beforeEach, describe, expect, it } from "vitest";
import { apiKeyId, deleted, emptyOffice, surroundings } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { position, sample, type TestRecord } from "../testing/records.ts";

const office = emptyOffice();

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
    await takeFacts(office.db);
    expect(await office.apply(sent)).toEqual({ 1: errors });
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
      3: { "bundles.0.bundled_item": notKnown("item 9") },
    });
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
    await takeFacts(office.db);
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
    expect(await takeFacts(office.db)).toEqual([]);
  });

  it.each<[string, TestRecord]>([
    ["the channel web, which exists without a record", deleted("sales_channel", { identifier: "web" })],
    ["a date that nothing is planned for", { ...deleted("subevent", { id: 2 }), event: "dates" }],
    ["an item that bundles only itself and others", deleted("item", { id: 4 })],
    ["an item of another event", { ...deleted("item", { id: 3 }), event: "dates" }],
  ])("[R3.3, R4.2] goes: %s", async (_name, sent) => {
    expect(await office.apply(sent)).toEqual({});
  });

  it("[R3.23] may be a variation that its item is sent without", async () => {
    expect(await office.apply(sample.item({ id: 3, variations: [{ id: 33, value: {} }] }))).toEqual({});
    const variation = sql`select position.variation from position where position.event = 'fest'`;
    expect(await office.db.one(variation)).toEqual({ variation: 31 });
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
    await takeFacts(office.db);
    expect(await office.apply(deleted("event", { slug: "fest" }))).toEqual({});
    expect((await takeFacts(office.db)).map(({ topic, key, value }) => [topic, key, value])).toEqual([
      ["event-changed", "org/fest/", null],
      ["position-changed", "org/fest/1", null],
      ["quota-changed", "org/fest/1", null],
      ["item-changed", "org/fest/1", null],
      ["category-changed", "org/fest/1", null],
    ]);
    for (const table of ["position", "order", "quota", "item", "category", "tax_rule", "event"])
      expect(await office.count(table)).toBe(1);
  });

  it("[R3.14] takes the dates of a series along", async () => {
    await office.apply(
      sample.organizer(),
      sample.event({ has_subevents: true }),
      sample.subevent(),
      sample.subevent({ id: 2 }),
    );
    await takeFacts(office.db);
    await office.apply(deleted("event", { slug: "fest" }));
    expect((await takeFacts(office.db)).map(({ key }) => key).sort()).toEqual([
      "org/fest/",
      "org/fest/1",
      "org/fest/2",
    ]);
  });

  it("[R3.1] takes keys, devices, gates and channels of an organizer along", async () => {
    await office.apply(
      sample.organizer(),
      sample.gate(),
      sample.salesChannel(),
      sample.apiKey(),
      sample.device({ gate: 1 }),
    );
    await takeFacts(office.db);
    expect(await office.apply(deleted("organizer", { slug: "org" }))).toEqual({});
    const facts = await takeFacts(office.db);
    expect(facts.map(({ value }) => value)).toEqual([null, null, null]);
    expect(facts.map(({ key }) => key).sort()).toEqual([
      `org//CREDENTIAL_KIND_API_KEY:${apiKeyId}`,
      "org//CREDENTIAL_KIND_DEVICE:1",
      "org//api.shop",
    ]);
    for (const table of ["credential", "gate", "sales_channel", "organizer"]) expect(await office.count(table)).toBe(0);
  });
});

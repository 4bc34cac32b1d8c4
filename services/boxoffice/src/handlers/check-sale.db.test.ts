import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boxofficeDatabase } from "../testing/database.ts";
import { countRows, openSales } from "../testing/open-sales.ts";
import { sample, type TestRecord } from "../testing/records.ts";

const { db } = await boxofficeDatabase();
const opened = await openSales(db);
const { sales, take } = opened;

beforeEach(() => opened.reset());

afterEach(() => opened.requireRightCounts());

const rowsMade = () => countRows(db);

describe("what is sold", () => {
  const mapped = { seat_category_mapping: { Stalls: 1 } };
  const variations = [
    { id: 21, value: {} },
    { id: 22, value: {}, active: false },
    { id: 23, value: {}, all_sales_channels: false, limit_sales_channels: ["api.kiosk"] },
  ];

  it.each<[string, TestRecord[], object, string[]]>([
    ["is all right", [], {}, []],
    ["is too little", [], { amount: 0 }, ["amount"]],
    ["is too much", [], { amount: 10_001 }, ["amount"]],
    ["is unknown", [], { item: 9 }, ["item"]],
    ["is not active", [sample.item({ active: false })], {}, ["item"]],
    ["needs a seat", [sample.event(mapped)], {}, ["item"]],
    ["is sold in bundles only", [sample.item({ require_bundling: true })], {}, ["item"]],
    ["is a bundle", [sample.item({ id: 2 }), sample.item({ bundles: [{ bundled_item: 2 }] })], {}, ["item"]],
    ["is an add-on", [sample.category({ is_addon: true }), sample.item({ category: 1 })], {}, ["item"]],
    [
      "needs add-ons",
      [sample.category({ is_addon: true }), sample.item({ addons: [{ addon_category: 1, min_count: 1 }] })],
      {},
      ["item"],
    ],
    [
      "may have add-ons",
      [sample.category({ is_addon: true }), sample.item({ addons: [{ addon_category: 1 }] })],
      {},
      [],
    ],
    ["is for members", [sample.item({ require_membership: true })], {}, ["item"]],
    ["is a gift card", [sample.item({ issue_giftcard: true })], {}, ["item"]],
    ["is valid from its sale on", [sample.item({ validity_mode: "dynamic" })], {}, ["item"]],
    ["is taxed below zero", [sample.taxRule({ rate: "-1.00" })], {}, ["item"]],
    ["needs a voucher in the shop", [sample.item({ require_voucher: true, hide_without_voucher: true })], {}, []],
    ["is over in the shop", [sample.item({ available_until: "2001-01-01T00:00:00Z" })], {}, []],
    ["has a variation too many", [], { variation: 21 }, ["variation"]],
    ["lacks its variation", [sample.item({ variations })], {}, ["variation"]],
    ["has a variation", [sample.item({ variations })], { variation: 21 }, []],
    ["has an unknown variation", [sample.item({ variations })], { variation: 29 }, ["variation"]],
    ["has a variation that is not active", [sample.item({ variations })], { variation: 22 }, ["variation"]],
    ["has a variation of other channels", [sample.item({ variations })], { variation: 23 }, ["sales_channel"]],
    ["has a date too many", [], { subevent: 1 }, ["subevent"]],
    ["is for an unknown channel", [], { salesChannel: "api.x" }, ["sales_channel"]],
    [
      "is for a channel of the item",
      [
        sample.salesChannel({ identifier: "api.kiosk" }),
        sample.item({ all_sales_channels: false, limit_sales_channels: ["api.kiosk"] }),
      ],
      { salesChannel: "api.kiosk" },
      [],
    ],
    ["is not for this channel", [sample.item({ all_sales_channels: false })], {}, ["sales_channel"]],
    ["is of an event not for it", [sample.event({ all_sales_channels: false })], {}, ["sales_channel"]],
    [
      "is all wrong",
      [],
      { item: 9, subevent: 1, salesChannel: "api.x", amount: -1 },
      ["amount", "item", "subevent", "sales_channel"],
    ],
  ])("[O6.1, O6.2, O6.3, O6.4, O6.5] %s", async (_name, records, asked, fields) => {
    await take(...records);
    expect(await sales.findWrong(asked)).toEqual(fields);
    const { problems, tickets } = await sales.sell(asked);
    if (fields.length > 0) expect(problems.map(({ field }) => field)).toEqual(fields);
    if (fields.length > 0) expect(tickets).toEqual([]);
  });

  it.each<[string, TestRecord, string[]]>([
    ["the price of the item", sample.item({ default_price: "free of charge", tax_rule: 1 }), ["item"]],
    ["whether it is active", sample.item({ active: "perhaps" }), ["item"]],
    ["its tax rule", sample.item({ tax_rule: "full" }), ["item"]],
    ["the price of a variation", sample.item({ variations: [{ id: 21, default_price: "?" }] }), ["item", "variation"]],
    ["the rate of its tax", sample.taxRule({ rate: "a lot" }), ["item"]],
    ["the currency of the event", sample.event({ currency: "Euro" }), ["item"]],
    ["the seats of the event", sample.event({ seat_category_mapping: "all" }), ["item"]],
    ["what buyers read of it", sample.item({ description: 5, default_price: "23.00" }), []],
  ])("[O6.7] is not guessed where a record could not be read: %s", async (_name, sent, fields) => {
    expect(Object.keys(await opened.office.apply(sent))).toEqual(["1"]);
    expect(await sales.findWrong({})).toEqual(fields);
    expect((await sales.sell({})).tickets).toHaveLength(fields.length > 0 ? 0 : 1);
    await take(
      sample.event(),
      sample.taxRule({ code: "S/standard" }),
      sample.item({ default_price: "23.00", tax_rule: 1 }),
    );
    expect(await sales.findWrong({})).toEqual([]);
  });

  it("[O6.7] is not sold on a date whose prices could not be read", async () => {
    const inSeries = (each: TestRecord) => ({ ...each, event: "series" });
    await take(...[sample.event({ slug: "series", has_subevents: true }), sample.item()].map(inSeries));
    const priced = (price: string) => inSeries(sample.subevent({ item_price_overrides: [{ item: 1, price }] }));
    await opened.office.apply(priced("dear"));
    expect(await sales.findWrong({ event: "series", subevent: 1 })).toEqual(["subevent"]);
    await take(priced("42.00"));
    expect(await sales.findWrong({ event: "series", subevent: 1 })).toEqual([]);
  });

  it.each<[string, TestRecord[], object, string[]]>([
    ["lacks its date", [], {}, ["subevent"]],
    ["has its date", [], { subevent: 1 }, []],
    ["has an unknown date", [], { subevent: 9 }, ["subevent"]],
    ["has a date that is not active", [sample.subevent({ active: false })], { subevent: 1 }, ["subevent"]],
    [
      "is not sold on the date",
      [sample.subevent({ item_price_overrides: [{ item: 1, disabled: true }] })],
      { subevent: 1 },
      ["item"],
    ],
    [
      "has a variation that is not sold on the date",
      [
        sample.item({ variations }),
        sample.subevent({ variation_price_overrides: [{ variation: 21, disabled: true }] }),
      ],
      { subevent: 1, variation: 21 },
      ["variation"],
    ],
    ["needs a seat on the date", [sample.subevent(mapped)], { subevent: 1 }, ["item"]],
  ])("[O6.2, O6.3] of a series %s", async (_name, records, asked, fields) => {
    const inSeries = (each: TestRecord) => ({ ...each, event: "series" });
    await take(
      ...[sample.event({ slug: "series", has_subevents: true }), sample.item(), sample.subevent(), ...records].map(
        inSeries,
      ),
    );
    expect(await sales.findWrong({ event: "series", ...asked })).toEqual(fields);
  });

  it("[O6.6] is looked at without its quota, and nothing is made", async () => {
    const before = await rowsMade();
    expect(await sales.findWrong({ amount: 10_000 })).toEqual([]);
    expect(await rowsMade()).toEqual(before);
    await expect(sales.findWrong({ event: "none" })).rejects.toMatchObject({ code: "no_such_event" });
    await expect(sales.sell({ organizer: "none" })).rejects.toMatchObject({ code: "no_such_event" });
  });
});

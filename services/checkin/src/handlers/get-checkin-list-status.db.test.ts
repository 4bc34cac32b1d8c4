import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { categoryFact, eventFact, itemFact, minute, noon, order, place, positionFact } from "../testing/facts.ts";
import { everything, listsOfSeries } from "../testing/lists-of-series.ts";
import { listFields, scan } from "../testing/start-checkin.ts";

const series = listsOfSeries();

describe("counting", () => {
  const status = (id: number) => series.checkin.lists.getCheckinListStatus({ ...place, id });

  beforeEach(() =>
    series.checkin.deliver(topics.positionChanged, [
      positionFact(1, { subevent: 1 }),
      positionFact(2, { subevent: 1, item: 11 }),
      positionFact(3, { subevent: 2 }),
      positionFact(4, { subevent: 1, order: order({ status: "ORDER_STATUS_PENDING" }) }),
      positionFact(5, { subevent: 1, order: order({ status: "ORDER_STATUS_PENDING", validIfPending: true }) }),
      positionFact(6, { subevent: 1, order: order({ status: "ORDER_STATUS_EXPIRED" }) }),
      positionFact(7, { subevent: 1, order: order({ status: "ORDER_STATUS_CANCELED" }) }),
      positionFact(8, { subevent: 1, canceled: true }),
      positionFact(9, { subevent: 1, blocked: ["admin"], validFrom: noon + minute }),
      positionFact(10, { subevent: 1, item: 11, addonTo: 1 }),
      { ...positionFact(11, { subevent: 1 }), event: "single" },
    ]),
  );

  it.each([
    ["everything", {}, 6],
    ["pending orders too", { includePending: true }, 7],
    ["one date", { subevent: 2 }, 1],
    ["some products", { allProducts: false, limitProducts: [11] }, 2],
    ["no products", { allProducts: false }, 0],
    [
      "products of a date, pending too",
      { allProducts: false, limitProducts: [10], subevent: 1, includePending: true },
      4,
    ],
  ])("[C1.19, C1.8] finds the tickets of a list of %s", async (_name, fields, expected) => {
    const list = await series.checkin.createList(fields);
    expect(list.positionCount).toBe(expected);
    expect(await status(list.id)).toMatchObject({ positionCount: expected, checkinCount: 0, insideCount: 0 });
    expect((await series.checkin.lists.listCheckinLists(everything)).lists[0]?.positionCount).toBe(expected);
    expect(
      (await series.checkin.lists.listCheckinLists({ ...everything, withCounts: false })).lists[0]?.positionCount,
    ).toBe(0);
  });

  it("[C1.20, C1.21] counts tickets that entered, not scans, and who is inside", async () => {
    const { id } = await series.checkin.createList({ allowMultipleEntries: true });
    const exit = { type: "SCAN_TYPE_EXIT" } as const;
    await series.checkin.redeemAll([
      ...["secret1", "secret1", "secret2", "secret3"].map((secret) => scan(id, secret)),
      scan(id, "secret1", exit),
      scan(id, "secret5", exit),
      scan(id, "secret4", { force: true }),
      scan(id, "secret8"),
    ]);
    expect(await status(id)).toMatchObject({ positionCount: 6, checkinCount: 3, insideCount: 2 });
  });

  it("[C1.20, C1.21] counts by the latest scan, whatever came first", async () => {
    const { id } = await series.checkin.createList({ includePending: true });
    const exit = { type: "SCAN_TYPE_EXIT" } as const;
    await series.checkin.redeemAll([
      // The exit arrives before the entry.
      scan(id, "secret1", { ...exit, at: noon + minute }),
      scan(id, "secret1", { at: noon, force: true }),
      // Entry and exit at the same instant.
      scan(id, "secret2", { at: noon }),
      scan(id, "secret2", { ...exit, at: noon }),
      // A ticket of a pending order, on a list that includes pending orders.
      scan(id, "secret4", { at: noon, ignoreUnpaid: true }),
    ]);
    expect(await status(id)).toMatchObject({ positionCount: 7, checkinCount: 3, insideCount: 1 });
    const waiting = order({ status: "ORDER_STATUS_PENDING", requireApproval: true });
    await series.checkin.deliver(topics.positionChanged, [
      positionFact(12, { subevent: 1, order: waiting }),
      positionFact(1, { subevent: 1, order: order({ status: "ORDER_STATUS_CANCELED" }) }, { revision: 2 }),
    ]);
    expect(await status(id)).toMatchObject({ positionCount: 7, checkinCount: 2, insideCount: 1 });
  });

  it("[C1.22] follows a change of the list at once", async () => {
    const { id } = await series.checkin.createList();
    await series.checkin.redeemAll(["secret1", "secret2", "secret3"].map((secret) => scan(id, secret)));
    const fields = listFields({ allProducts: false, limitProducts: [11] });
    await series.checkin.lists.updateCheckinList({
      ...place,
      id,
      fields,
      updateMask: ["all_products", "limit_products"],
    });
    expect(await status(id)).toMatchObject({ positionCount: 2, checkinCount: 1, insideCount: 1 });
  });

  it("is the same when rows are compacted", async () => {
    const { id } = await series.checkin.createList();
    for (const secret of ["secret1", "secret2", "secret3"]) await series.checkin.redeem(scan(id, secret));
    await series.checkin.redeem(scan(id, "secret3", { type: "SCAN_TYPE_EXIT" }));
    const before = await status(id);
    const rows = () => series.checkin.db.one<{ rows: number }>(sql`select count(*)::integer as rows from count_delta`);
    const { rows: many } = await rows();
    await Promise.all([series.checkin.runJob("compact-counts"), series.checkin.runJob("compact-counts")]);
    expect(await status(id)).toEqual(before);
    expect((await rows()).rows).toBeLessThan(many);
    await series.checkin.deliver(topics.positionChanged, [
      "bigevents/single/11",
      ...Array.from({ length: 10 }, (_, index) => `bigevents/sampleconf/${index + 1}`),
    ]);
    await series.checkin.runJob("compact-counts");
    expect((await rows()).rows).toBe(0);
  });

  it("[C1.23, C1.24] goes by item and variation, in the shop's order and the event's language", async () => {
    const variation = (id: number, position: number) => ({
      id,
      value: { en: `V${id}`, de: `W${id}` },
      position,
      checkinAttention: false,
    });
    await series.checkin.deliver(topics.eventChanged, [eventFact({ revision: 2, hasSubevents: true, locale: "de" })]);
    await series.checkin.deliver(topics.categoryChanged, [categoryFact(1, 2), categoryFact(2, 1)]);
    await series.checkin.deliver(topics.itemChanged, [
      itemFact(10, { revision: 2, category: 1, name: { en: "Ticket", de: "Karte" } }),
      itemFact(11, { revision: 2, category: 2, position: 5, internalName: "Internal" }),
      itemFact(12, { category: 2, position: 1, admission: false, variations: [variation(2, 1), variation(1, 0)] }),
      itemFact(13, { position: 0 }),
    ]);
    await series.checkin.deliver(topics.positionChanged, [
      positionFact(20, { subevent: 1, item: 12, variation: 1 }),
      positionFact(21, { subevent: 1, item: 12, variation: 2 }),
      positionFact(22, { subevent: 1, item: 12, variation: 2 }),
    ]);
    const { id } = await series.checkin.createList();
    await series.checkin.redeem(scan(id, "secret21"));
    const counts = (positionCount: number, checkinCount = 0) => ({ positionCount, checkinCount });
    expect(await status(id)).toEqual({
      eventName: "Musterkonferenz",
      ...counts(9, 1),
      insideCount: 1,
      items: [
        {
          id: 12,
          name: "Item 12",
          admission: false,
          ...counts(3, 1),
          variations: [
            { id: 1, value: "W1", ...counts(1) },
            { id: 2, value: "W2", ...counts(2, 1) },
          ],
        },
        { id: 11, name: "Internal", admission: true, ...counts(2), variations: [] },
        { id: 10, name: "Karte", admission: true, ...counts(4), variations: [] },
        { id: 13, name: "Item 13", admission: true, ...counts(0), variations: [] },
      ],
    });
    const dated = await series.checkin.createList({ subevent: 2, allProducts: false, limitProducts: [10] });
    expect(await status(dated.id)).toMatchObject({ eventName: "Date 2", items: [{ id: 10, positionCount: 1 }] });
  });
});

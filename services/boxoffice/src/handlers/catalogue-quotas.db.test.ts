import { shareReads } from "@tessera/kit/pg/reads";
import { DocumentKind, type ListDocumentsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";
import { need, startLedger, voucher } from "../testing/vouchers.ts";
import { getDocument, listDocuments } from "./catalogue.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const ledger = await startLedger(db);
const deps = { reads: shareReads(db) };

const series = (made: TestRecord): TestRecord => ({ ...made, event: "series" });

beforeEach(async () => {
  await emptyTables(db);
  await take(
    ...festival,
    sample.quota(),
    sample.item({ id: 2, variations: [{ id: 21, value: {} }] }),
    series(sample.event({ slug: "series", has_subevents: true })),
    ...[1, 2].map((id) => series(sample.subevent({ id }))),
    series(sample.item({ id: 8 })),
    series(sample.quota({ id: 11, items: [8], subevent: 1 })),
    series(sample.quota({ id: 12, items: [8], subevent: 2 })),
  );
});

/** Applies valid records. */
async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

const place = { organizer: "org", event: "fest", kind: DocumentKind.QUOTA };

const list = async (asked: Partial<ListDocumentsRequest> = {}) => {
  const request = { ...place, page: 1, pageSize: 50, ordering: [], ...asked };
  const { documents } = await listDocuments(request, deps);
  return documents.map(({ json, availability }) => ({ data: JSON.parse(String(json)), availability }));
};
const idsOf = async (asked: Partial<ListDocumentsRequest> = {}) => (await list(asked)).map(({ data }) => data.id);

/** What is left of a quota, as one of its own and as one of a list. */
async function left(id = 1) {
  const { document } = await getDocument({ ...place, id, withAvailability: true }, deps);
  const listed = (await list({ withAvailability: true })).find(({ data }) => data.id === id);
  expect(listed?.availability).toEqual(document?.availability);
  return document?.availability;
}

/** Orders of one position each. */
const sold = (status: string, codes: readonly number[], rest: object = {}) =>
  codes.map((id) =>
    sample.order({
      code: `C${id}`,
      status,
      positions: [position({ id, secret: `s${id}`, ...rest })],
    }),
  );

describe("quotas", () => {
  it("[E1.11] are listed with their record, by id or size, and found by date and item", async () => {
    await take(
      sample.quota({ id: 2, size: null, items: [1] }),
      sample.quota({ id: 3, size: 5, items: [1, 2], variations: [21] }),
    );
    expect((await list())[1]).toEqual({
      data: {
        ...{ id: 2, name: "", size: null, items: [1], variations: [], subevent: null, closed: false },
        ...{ close_when_sold_out: false, release_after_exit: false, ignore_for_event_availability: false },
      },
      availability: undefined,
    });
    expect(await idsOf()).toEqual([1, 2, 3]);
    expect(await idsOf({ ordering: ["size"] })).toEqual([3, 1, 2]);
    expect(await idsOf({ ordering: ["-size"] })).toEqual([1, 3, 2]);
    expect(await idsOf({ items: { ids: [2] } })).toEqual([3]);
    expect(await idsOf({ items: { ids: [2, 1] } })).toEqual([1, 2, 3]);
    expect(await idsOf({ event: "series", subevent: 2 })).toEqual([12]);
    expect(await idsOf({ organizer: "other" })).toEqual([]);
    await expect(getDocument({ ...place, id: 11 }, deps)).rejects.toMatchObject({ kind: "not_found" });
  });

  it.each([
    ["another event's date", { subevent: 1 }, ["subevent"]],
    ["an unknown date", { event: "series", subevent: 99 }, ["subevent"]],
    ["another event's item", { items: { ids: [1, 8] } }, ["items__in"]],
    ["both", { subevent: 1, items: { ids: [99] } }, ["subevent", "items__in"]],
  ])("[E1.11] are not found by %s: that is named", async (_name, asked, names) => {
    await expect(list(asked)).rejects.toMatchObject({
      code: "invalid_filter",
      fields: Object.fromEntries(names.map((name) => [name, [expect.any(String)]])),
    });
  });
});

describe("what is left of a quota", () => {
  it("[E1.12] is what orders and vouchers do not take", async () => {
    await take(sample.quota({ size: 10 }), ...sold("p", [1, 2, 3]), ...sold("n", [4]), ...sold("c", [5]));
    await ledger.tell(voucher(1, { maxUsages: 2 }));
    expect(await left()).toEqual({ isAvailable: true, left: 4, paid: 3, pending: 1, byVouchers: 2 });
    // A voucher that is being created takes its share before it exists.
    await ledger.mustHold([need(2, { amount: 3 })]);
    expect(await left()).toEqual({ isAvailable: true, left: 1, paid: 3, pending: 1, byVouchers: 5 });
  });

  it.each([
    ["unlimited", { size: null }, { isAvailable: true, left: undefined, paid: 2 }],
    ["closed", { size: 10, closed: true }, { isAvailable: false, left: 0, paid: 2 }],
    ["closed without a size", { size: null, closed: true }, { isAvailable: false, left: 0 }],
    ["overbooked", { size: 1 }, { isAvailable: false, left: 0, paid: 2 }],
    ["of other products", { size: 1, items: [2], variations: [21] }, { isAvailable: true, left: 1, paid: 0 }],
  ])("[E1.12] of one that is %s is told as the shop sells it", async (_name, quota, expected) => {
    await take(sample.quota(quota), ...sold("p", [1, 2]));
    expect(await left()).toMatchObject(expected);
  });

  it("[E1.12] is exactly what can still be sold, whatever takes the rest", async () => {
    await take(sample.quota({ size: 9 }), ...sold("p", [1, 2]), ...sold("n", [3]));
    await ledger.tell(voucher(1, { maxUsages: 2 }));
    const shown = (await left())?.left ?? 0;
    expect(await ledger.hold([need(50, { amount: shown + 1 })])).toMatchObject([{ quota: 1 }]);
    await ledger.mustHold([need(50, { amount: shown })]);
    expect(await left()).toMatchObject({ isAvailable: false, left: 0 });
  });

  it("[E1.12] counts its own date and event alone, and is gone with it", async () => {
    const order = { ...sold("p", [1], { item: 8, subevent: 1 })[0], event: "series" } as TestRecord;
    await take(order);
    const asked = { event: "series", withAvailability: true };
    expect((await list(asked)).map(({ availability }) => availability?.paid)).toEqual([1, 0]);
    await take(record("quota", { id: 1 }, { deleted: true }));
    await expect(left()).rejects.toMatchObject({ kind: "not_found" });
    await office.apply(series(record("event", { slug: "series" }, { deleted: true })));
    expect(await list(asked)).toEqual([]);
  });
});

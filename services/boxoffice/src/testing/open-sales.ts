import { randomUUID } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { SellTicketsRequest, SellTicketsResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import { Sales } from "@tessera/protos/services";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { startForTest } from "@tessera/testkit/start-for-test";
import { expect } from "vitest";
import { boxoffice } from "../index.ts";
import { boxOfficeOn } from "./box-office.ts";
import { festival, sample, type TestRecord } from "./records.ts";
import { recount } from "./recount.ts";

/** Calls sales as offline-sales does. */
export async function startSales(db: Db) {
  const service = await startForTest(boxoffice, { db });
  const sales = service.connect(Sales);
  const request = (rest: Partial<SellTicketsRequest>): SellTicketsRequest => ({
    organizer: "org",
    event: "fest",
    sale: randomUUID(),
    item: 1,
    salesChannel: "web",
    testmode: false,
    amount: 1,
    onlyCheck: false,
    ...rest,
  });
  return {
    /** Sells one of item 1, unless told otherwise. */
    sell: (rest: Partial<SellTicketsRequest> = {}): Promise<SellTicketsResponse> => sales.sellTickets(request(rest)),
    /** The wrong fields. */
    async findWrong(rest: Partial<SellTicketsRequest> = {}): Promise<string[]> {
      const { problems } = await sales.sellTickets(request({ onlyCheck: true, sale: "", ...rest }));
      return problems.map(({ field }) => field);
    },
    cancel: (sale: string, { organizer = "org", event = "fest" } = {}) => sales.cancelSale({ organizer, event, sale }),
    lines: service.lines,
  };
}

export type TestSales = Awaited<ReturnType<typeof startSales>>;

/** Starts sales for their tests. */
export async function openSales(db: Db) {
  const office = boxOfficeOn(db);
  /** Applies valid records. */
  async function take(...records: TestRecord[]): Promise<void> {
    expect(await office.apply(...records)).toEqual({});
  }
  return {
    office,
    take,
    sales: await startSales(db),
    /** Leaves an event that sells ten of item 1 at 23.00. */
    async reset() {
      await emptyTables(db);
      await take(
        ...festival,
        sample.taxRule({ code: "S/standard" }),
        sample.item({ default_price: "23.00", tax_rule: 1 }),
        sample.quota({ size: 10 }),
      );
    },
    async requireRightCounts() {
      const { counted, recounted } = await recount(db);
      expect(counted).toEqual(recounted);
    },
  };
}

type Document = Readonly<Record<string, unknown>>;

/** Reads the documents of all orders, by their codes. */
export async function readOrders(db: Db): Promise<(Document & { readonly positions: readonly Document[] })[]> {
  const rows = await db.many<{ data: Document & { readonly positions: readonly Document[] } }>(sql`
    select "order".data
      from "order"
     order by "order".code`);
  return rows.map(({ data }) => data);
}

/** Counts the positions that take capacity. */
export async function countTaken(db: Db): Promise<number> {
  const { taken } = await db.one<{ taken: number }>(sql`
    select coalesce(sum(taken_capacity.positions), 0)::bigint as taken
      from taken_capacity`);
  return taken;
}

export function countRows(db: Db): Promise<object> {
  return db.one(sql`
    select (select count(*) from "order") as orders, (select count(*) from position) as positions,
           (select count(*) from sale) as sales, (select count(*) from sold_ticket) as tickets,
           (select count(*) from outbox) as facts`);
}

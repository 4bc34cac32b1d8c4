import { loadServices } from "@tessera/cli/services";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type Client, implement } from "@tessera/kit/rpc";
import type { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Capacity, Records, Vouchers } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { plainVoucher } from "@tessera/testkit/plain-fields";
import { startForTest } from "@tessera/testkit/start-for-test";
import { place, sendRecords } from "./send-records.ts";

/** The fields of a voucher that blocks a quota and names nothing. */
export const blocking: VoucherFields = { ...plainVoucher, blockQuota: true };

type Owner = "boxoffice" | "voucher";

interface Between {
  /** What a service sees of its database. */
  readonly dbOf?: (owner: Owner, db: Db) => Db;
  /** What voucher sees of boxoffice. */
  readonly capacityOf?: (ledger: Client<Capacity>) => Client<Capacity>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const definitions = await loadServices(["boxoffice", "voucher"]);
  return createTestDatabase(definitions.map(({ schema, migrations }) => ({ schema, migrations })));
}

/** Starts both services, of which voucher calls boxoffice. No fact passes by itself. */
export async function startBoth(
  database: TestDatabase,
  { dbOf = (_owner, db) => db, capacityOf = (ledger) => ledger }: Between = {},
) {
  const [boxofficeDefinition, voucherDefinition] = await loadServices(["boxoffice", "voucher"]);
  if (boxofficeDefinition === undefined || voucherDefinition === undefined) throw new Error("a service is missing");
  const dbs = { boxoffice: database.open("boxoffice"), voucher: database.open("voucher") };
  const boxoffice = await startForTest(boxofficeDefinition, { db: dbOf("boxoffice", dbs.boxoffice) });
  const peers = { boxoffice: [implement(Capacity, capacityOf(boxoffice.connect(Capacity)))] };
  const voucher = await startForTest(voucherDefinition, { db: dbOf("voucher", dbs.voucher), peers });
  const records = { boxoffice: boxoffice.connect(Records), voucher: voucher.connect(Records) };
  return { dbs, boxoffice, voucher, vouchers: voucher.connect(Vouchers), records };
}

export type Both = Awaited<ReturnType<typeof startBoth>>;

/** Leaves nothing but an event with these quotas and their items, which both services know. */
export async function prepareEvent(
  both: Both,
  quotas: readonly { readonly id: number; readonly size: number; readonly items: readonly number[] }[],
): Promise<void> {
  const { dbs, voucher } = both;
  await Promise.all([emptyTables(dbs.boxoffice), emptyTables(dbs.voucher)]);
  const items = new Set(quotas.flatMap(({ items }) => items));
  await sendRecords(
    both.records.boxoffice,
    { kind: "organizer", data: { slug: place.organizer, name: "Big Events" } },
    { kind: "event", data: { slug: place.event, name: { en: "Conference" }, date_from: "2027-12-27T10:00:00Z" } },
    ...Array.from(items, (id) => ({
      kind: "item",
      data: { id, name: { en: "Ticket" }, default_price: "10.00" },
    })),
    ...quotas.map((quota) => ({ kind: "quota", data: { name: "Quota", variations: [], ...quota } })),
  );
  for (const topic of [topics.eventChanged, topics.itemChanged, topics.quotaChanged]) {
    const rows = await dbs.boxoffice.many<{ payload: Buffer }>(
      sql`select payload from outbox where topic = ${topic.name} order by id`,
    );
    const facts = rows.map(({ payload }) => topic.decode(payload));
    await voucher.deliver<unknown>(topic, facts);
  }
}

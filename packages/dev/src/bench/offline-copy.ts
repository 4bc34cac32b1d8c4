import { join } from "node:path";
import { createLog } from "@tessera/kit/log";
import { openDatabase } from "@tessera/kit/pg/database";
import { identifier, literal, type Sql, sql } from "@tessera/kit/pg/sql";

/** What a batch stores: its orders with their tickets in boxoffice, and the tickets again at the gates. */
const stored = [
  ["bench_order", sql`boxoffice."order"`, sql`each.code`, sql`batch.orders`],
  ["bench_position", sql`boxoffice.position`, sql`each.id`, sql`batch.positions`],
  ["bench_sold_ticket", sql`boxoffice.sold_ticket`, sql`each.position`, sql`batch.positions`],
  ["bench_gate_position", sql`checkin.position`, sql`each.id`, sql`batch.positions`],
] as const;

/** Copies the rows of the last batch from files into tables like theirs; returns the milliseconds of the best of three. */
export async function copyBatch({ url, folder }: { readonly url: string; readonly folder: string }): Promise<number> {
  const log = createLog({ service: "bench", destination: { write: () => {} } });
  const db = openDatabase({ url, schema: "public", applicationName: "bench", statementTimeoutMs: 600_000, log });
  try {
    const copies: Sql[] = [];
    for (const [name, table, key, keys] of stored) {
      const file = literal(join(folder, `${name}.copy`));
      await db.run(sql`create table ${identifier(name)} (like ${table} including all)`);
      await db.run(sql`
        copy (select each.*
                from ${table} as each
               where ${key} = any(array(select unnest(${keys})
                                          from offline_sales.batch
                                         where batch.id = (select max(newest.id) from offline_sales.batch as newest))))
          to ${file} with (format binary)`);
      copies.push(sql`copy ${identifier(name)} from ${file} with (format binary)`);
    }
    const took: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const [name] of stored) await db.run(sql`truncate ${identifier(name)}`);
      const started = performance.now();
      await db.transaction(async (tx) => {
        for (const copy of copies) await tx.run(copy);
      });
      took.push(performance.now() - started);
    }
    return Math.min(...took);
  } finally {
    await db.close();
  }
}

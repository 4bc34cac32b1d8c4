import { join } from "node:path";
import { createLog } from "@tessera/kit/log";
import { openDatabase } from "@tessera/kit/pg/database";
import { identifier, joinSql, literal, type Sql, sql } from "@tessera/kit/pg/sql";

/** What a batch stores: its orders with their tickets in boxoffice, and the tickets again at the gates. */
const stored = [
  { schema: "boxoffice", table: "order", key: "code", keys: sql`batch.orders` },
  { schema: "boxoffice", table: "position", key: "id", keys: sql`batch.positions` },
  { schema: "boxoffice", table: "sold_ticket", key: "position", keys: sql`batch.positions` },
  { schema: "checkin", table: "position", key: "id", keys: sql`batch.positions` },
] as const;

/** Copies the rows of the last batch from files into tables like theirs; returns the milliseconds of the best of three. */
export async function copyBatch({ url, folder }: { readonly url: string; readonly folder: string }): Promise<number> {
  const log = createLog({ service: "bench", destination: { write: () => {} } });
  const db = openDatabase({ url, schema: "public", applicationName: "bench", statementTimeoutMs: 600_000, log });
  try {
    const copies: { readonly target: Sql; readonly file: Sql }[] = [];
    for (const { schema, table, key, keys } of stored) {
      const file = literal(join(folder, `${schema}-${table}.copy`));
      const [source, target] = [
        sql`${identifier(schema)}.${identifier(table)}`,
        identifier(`bench_${schema}_${table}`),
      ];
      await db.run(sql`create table ${target} (like ${source} including all)`);
      const columns = await db.many<{ name: string }>(sql`
        select columns.column_name as name
          from information_schema.columns
         where columns.table_schema = ${schema}
           and columns.table_name = ${table}
         order by columns.ordinal_position`);
      const names = columns.map(({ name }) => sql`each.${identifier(name)}`);
      await db.run(sql`
        copy (select ${joinSql(names, ", ")}
                from ${source} as each
               where each.${identifier(key)} = any(array(select unnest(${keys})
                                          from offline_sales.batch
                                         where batch.id = (select max(newest.id) from offline_sales.batch as newest))))
          to ${file} with (format binary)`);
      copies.push({ target, file });
    }
    const took: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const { target } of copies) await db.run(sql`truncate ${target}`);
      const started = performance.now();
      await db.transaction(async (tx) => {
        for (const { target, file } of copies) await tx.run(sql`copy ${target} from ${file} with (format binary)`);
      });
      took.push(performance.now() - started);
    }
    return Math.min(...took);
  } finally {
    await db.close();
  }
}

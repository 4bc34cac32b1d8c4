import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Counts the rows of a table that `work` reads by scanning it, and not by an index. */
export async function countScannedRows(tx: Tx, table: string, work: () => Promise<void>): Promise<number> {
  // The server also counts what this connection read in earlier transactions and has not reported yet.
  const before = await read(tx, table);
  await work();
  return (await read(tx, table)) - before;
}

async function read(tx: Tx, table: string): Promise<number> {
  const { rows } = await tx.one<{ rows: number }>(
    sql`select seq_tup_read as rows from pg_stat_xact_user_tables where relname = ${table}`,
  );
  return rows;
}

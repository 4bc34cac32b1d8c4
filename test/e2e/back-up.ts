import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { identifier, joinSql, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";

/** The rows of one table, as JSON. */
interface Kept {
  readonly schema: string;
  readonly table: string;
  /** Those that Postgres does not compute. */
  readonly columns: readonly string[];
  readonly rows: string;
}

/** Keeps all rows of some schemas, as a backup of the database does. */
export async function backUp(url: string, schemas: readonly string[]): Promise<readonly Kept[]> {
  return onDatabase(url, async (db) => {
    const tables = await db.many<Omit<Kept, "rows">>(sql`
      select pg_namespace.nspname as schema, pg_class.relname as table, array_agg(pg_attribute.attname::text) as columns
        from pg_class
        join pg_namespace on pg_namespace.oid = pg_class.relnamespace
        join pg_attribute
          on pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
             and pg_attribute.attgenerated = ''
       where pg_namespace.nspname = any(${schemas}::text[])
         and pg_class.relkind in ('r', 'p')
         and not pg_class.relispartition
       group by 1, 2
       order by 1, 2`);
    return db.transaction(async (tx) => {
      await tx.run(sql`set transaction isolation level repeatable read`);
      const kept: Kept[] = [];
      for (const { schema, table, columns } of tables) {
        const { rows } = await tx.one<{ rows: string }>(sql`
          select coalesce(jsonb_agg(to_jsonb(kept)), '[]')::text as rows
            from ${identifier(schema)}.${identifier(table)} as kept`);
        kept.push({ schema, table, columns, rows });
      }
      return kept;
    });
  });
}

/** Puts those rows in the place of the present ones. */
export async function restore(url: string, backup: readonly Kept[]): Promise<void> {
  const nameOf = ({ schema, table }: Kept) => sql`${identifier(schema)}.${identifier(table)}`;
  await onDatabase(url, (db) =>
    db.transaction(async (tx) => {
      // Rows may come before those that they refer to.
      await tx.run(sql`set local session_replication_role = replica`);
      await tx.run(sql`truncate ${joinSql(backup.map(nameOf), ", ")}`);
      for (const kept of backup) {
        const name = nameOf(kept);
        const columns = joinSql(kept.columns.map(identifier), ", ");
        await tx.run(sql`
          insert into ${name} (${columns}) overriding system value
          select ${columns} from jsonb_populate_recordset(null::${name}, ${kept.rows}::jsonb) as kept`);
      }
    }),
  );
}

async function onDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const db = openDatabase({ url, schema: "public", applicationName: "test", log, maxConnections: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

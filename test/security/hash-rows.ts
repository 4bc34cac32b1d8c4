import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { identifier, type Sql, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

/** Opens the database of a platform with the rights to read every schema. */
export function openAllSchemas(url: string): Db {
  return openDatabase({ url, schema: "public", applicationName: "security-test", log: quiet, maxConnections: 1 });
}

/**
 * A hash of what each table of each schema holds of an organizer; where no column names it, of the rows whose text does. Rows
 * of counts, of what was heard of devices, and of alarms are left out: jobs write them at any time, and they follow from other tables.
 */
export function hashRowsOf(db: Db, organizer: string): Promise<Readonly<Record<string, string>>> {
  return hashRows(db, ({ isOwned }) =>
    isOwned ? sql`t.organizer = ${organizer}` : sql`strpos(t::text, ${organizer}) > 0`,
  );
}

/** A hash of all that each table of each schema holds. */
export function hashAllRows(db: Db): Promise<Readonly<Record<string, string>>> {
  return hashRows(db, () => sql`true`);
}

/** The last values of the sequences of each schema. */
export function readSequences(db: Db): Promise<readonly unknown[]> {
  return db.many(sql`select schemaname, sequencename, last_value from pg_sequences order by schemaname, sequencename`);
}

async function hashRows(
  db: Db,
  which: (table: { readonly isOwned: boolean }) => Sql,
): Promise<Readonly<Record<string, string>>> {
  const tables = await db.many<{ schema: string; name: string; isOwned: boolean }>(sql`
    select table_schema as schema, table_name as name,
           bool_or(column_name = 'organizer') as "isOwned"
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
     group by 1, 2
    having not bool_or(column_name = 'folded') and table_name not in ('device_contact', 'alarm')
     order by 1, 2`);
  const hashes: Record<string, string> = {};
  for (const { schema, name, isOwned } of tables) {
    const rows = sql`${identifier(schema)}.${identifier(name)}`;
    const { hash } = await db.one<{ hash: string }>(
      sql`select count(*) || ' ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from ${rows} t where ${which({ isOwned })}`,
    );
    hashes[`${schema}.${name}`] = hash;
  }
  return hashes;
}

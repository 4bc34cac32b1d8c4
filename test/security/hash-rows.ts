import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

/** Opens the database of a platform with the rights to read every schema. */
export function openAllSchemas(url: string): Db {
  return openDatabase({ url, schema: "public", applicationName: "security-test", log: quiet, maxConnections: 1 });
}

/**
 * A hash of what each table of each schema holds of an organizer; where no column names it, of the rows whose text does. Rows
 * of counts are left out: jobs fold them at any time, and what they count is in other tables.
 */
export async function hashRowsOf(db: Db, organizer: string): Promise<Readonly<Record<string, string>>> {
  const tables = await db.many<{ schema: string; name: string; isOwned: boolean }>(sql`
    select table_schema as schema, table_name as name,
           bool_or(column_name = 'organizer') as "isOwned"
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
     group by 1, 2
    having not bool_or(column_name = 'folded')
     order by 1, 2`);
  const hashes: Record<string, string> = {};
  for (const { schema, name, isOwned } of tables) {
    const rows = sql`${identifier(schema)}.${identifier(name)}`;
    const own = isOwned ? sql`t.organizer = ${organizer}` : sql`strpos(t::text, ${organizer}) > 0`;
    const { hash } = await db.one<{ hash: string }>(
      sql`select count(*) || ' ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from ${rows} t where ${own}`,
    );
    hashes[`${schema}.${name}`] = hash;
  }
  return hashes;
}

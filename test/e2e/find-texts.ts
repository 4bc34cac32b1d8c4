import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

interface Column {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/**
 * Finds where any of some texts stands in a database, as `schema.table.column: text`: in every column of every table that
 * can hold one, also where Postgres has compressed it or moved it elsewhere, and in what the planner knows of columns.
 */
export async function findTextsInDatabase(url: string, texts: readonly string[]): Promise<string[]> {
  const db = openDatabase({ url, schema: "public", applicationName: "test", log: quiet, maxConnections: 2 });
  try {
    const columns = await db.many<Column>(sql`
      select pg_namespace.nspname as schema, pg_class.relname as table, pg_attribute.attname as column,
             pg_type.typname as type
        from pg_class
        join pg_namespace on pg_namespace.oid = pg_class.relnamespace
        join pg_attribute on pg_attribute.attrelid = pg_class.oid
                             and pg_attribute.attnum > 0
                             and not pg_attribute.attisdropped
        join pg_type on pg_type.oid = pg_attribute.atttypid
       where pg_namespace.nspname !~ '^(pg_|information_schema)'
         and pg_class.relkind in ('r', 'p')
         and pg_type.typname in ('text', '_text', 'jsonb', '_jsonb', 'bytea', '_bytea', 'varchar', 'json')
       order by 1, 2, 3`);
    const found: string[] = [];
    for (const { schema, table, column, type } of columns) {
      const place = `"${schema}"."${table}"`;
      // The bytes of a text as they stand in a message, in UTF-8; everything else is text already.
      const bytes = type.endsWith("bytea") ? `convert_to(wanted.text, 'UTF8')` : undefined;
      const holds =
        bytes === undefined
          ? `position(wanted.text in held."${column}"::text) > 0`
          : type === "bytea"
            ? `position(${bytes} in held."${column}") > 0`
            : `exists (select from unnest(held."${column}") as part (bytes) where position(${bytes} in part.bytes) > 0)`;
      const rows = await db.many<{ text: string }>({
        text: `select wanted.text from unnest($1::text[]) as wanted (text) where exists (select from ${place} as held where ${holds})`,
        values: [texts],
      });
      found.push(...rows.map(({ text }) => `${schema}.${table}.${column}: ${text}`));
    }
    const sampled = await db.many<{ place: string; text: string }>(sql`
      select concat_ws('.', pg_stats.schemaname, pg_stats.tablename, pg_stats.attname) as place, wanted.text
        from pg_stats
        join unnest(${texts}::text[]) as wanted (text)
          on position(wanted.text in concat(pg_stats.most_common_vals, pg_stats.histogram_bounds, pg_stats.most_common_elems)) > 0`);
    found.push(...sampled.map(({ place, text }) => `statistics of ${place}: ${text}`));
    return found;
  } finally {
    await db.close();
  }
}

/** Finds which files below a folder hold any of some texts. */
export async function findTextsInFiles(folder: string, texts: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const content = await readIfThere(path);
    found.push(
      ...texts.filter((text) => content.includes(text) || path.includes(text)).map((text) => `${path}: ${text}`),
    );
  }
  return found;
}

/** The first bytes of a batch of records in a segment: its offset, its length, and what says how it is compressed. */
const batch = { length: 8, attributes: 21, records: 61 } as const;
const compressed = 0b111;
const gzip = 1;

/**
 * Finds which segments of a broker hold any of some texts: in the bytes of their files, and in the batches that are
 * compressed there. `wanted` tells which topics count, by the names of their folders.
 */
export async function findTextsInSegments(
  folder: string,
  texts: readonly string[],
  wanted: (topic: string) => boolean,
): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile() && wanted(basename(each.parentPath)))) {
    const path = join(entry.parentPath, entry.name);
    const content = await readIfThere(path);
    const parts = [content, ...(entry.name.includes(".log") ? unpackBatches(content) : [])];
    for (const text of texts)
      if (parts.some((part) => part.includes(text))) found.push(`${basename(entry.parentPath)}/${entry.name}: ${text}`);
  }
  return found;
}

/** What a file holds: nothing if it is gone since it was listed. Brokers and databases replace files at any time. */
async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw failure;
  }
}

function unpackBatches(segment: Buffer): Buffer[] {
  const unpacked: Buffer[] = [];
  for (let at = 0; at + batch.records < segment.length; ) {
    const end = at + batch.length + 4 + segment.readInt32BE(at + batch.length);
    // A segment that is written to has room at its end.
    if (end <= at + batch.records || end > segment.length) break;
    const codec = segment.readInt16BE(at + batch.attributes) & compressed;
    if (codec === gzip) unpacked.push(gunzipSync(segment.subarray(at + batch.records, end)));
    else if (codec !== 0) throw new Error(`a batch is compressed in a way that no publisher here uses: ${codec}`);
    at = end;
  }
  return unpacked;
}

import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Reads the key of cursors that all processes share. The first of them to come brings it. */
export async function shareCursorKey(db: Queryable, brought: Buffer): Promise<Buffer> {
  await db.run(sql`
    insert into cursor_key (key)
    values (${brought})
        on conflict (is_only) do nothing`);
  const { key } = await db.one<{ key: Buffer }>(sql`select cursor_key.key from cursor_key`);
  return key;
}

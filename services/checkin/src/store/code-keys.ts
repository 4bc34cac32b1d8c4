import { randomBytes } from "node:crypto";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

const keyBytes = 32;

/** Reads the key by which codes of an organizer are hashed; makes it for the first reader. */
export async function requireCodeKey(db: Queryable, organizer: string): Promise<Buffer> {
  const read = () =>
    db.maybeOne<{ key: Buffer }>(sql`
      select code_key.key
        from code_key
       where code_key.organizer = ${organizer}`);
  const known = await read();
  if (known !== undefined) return known.key;
  await db.run(sql`
    insert into code_key (organizer, key)
    values (${organizer}, ${randomBytes(keyBytes)})
        on conflict (organizer) do nothing`);
  const made = await read();
  if (made === undefined) throw new Error("a key that was stored is not there");
  return made.key;
}

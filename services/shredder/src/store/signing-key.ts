import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Reads the key of certificates that all processes share, as PEM. The first of them to come brings it. */
export async function shareSigningKey(db: Queryable, brought: string): Promise<string> {
  await db.run(sql`
    insert into signing_key (private_key)
    values (${brought})
        on conflict (is_only) do nothing`);
  const { privateKey } = await db.one<{ privateKey: string }>(sql`
    select signing_key.private_key as "privateKey" from signing_key`);
  return privateKey;
}

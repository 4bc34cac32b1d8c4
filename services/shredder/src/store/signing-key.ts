import { createPrivateKey, createPublicKey } from "node:crypto";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Finds the key of certificates that all processes share, as PEM; undefined: none was made yet. */
export async function findSigningKey(db: Queryable): Promise<string | undefined> {
  const row = await db.maybeOne<{ privateKey: string }>(sql`
    select signing_key.private_key as "privateKey" from signing_key`);
  return row?.privateKey;
}

/** Finds the public part of that key, as PEM. */
export async function findPublicKey(db: Queryable): Promise<string | undefined> {
  const key = await findSigningKey(db);
  return key && publicKeyOf(key);
}

/** The public part of a private key, both as PEM. */
export function publicKeyOf(privateKey: string): string {
  return createPublicKey(createPrivateKey(privateKey)).export({ type: "spki", format: "pem" }).toString();
}

/** Stores a key, unless another process was faster. */
export async function storeSigningKey(db: Queryable, key: string): Promise<void> {
  await db.run(sql`
    insert into signing_key (private_key)
    values (${key})
        on conflict (is_only) do nothing`);
}

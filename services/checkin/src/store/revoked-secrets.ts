import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

/** What checkin keeps of a revoked secret. */
export interface RevokedSecretCopy extends EntityKey {
  readonly revision: number;
  readonly secret: string;
  readonly position: number | null;
}

/** Takes over revoked secrets, unless a newer state is here already. */
export async function putRevokedSecrets(db: Queryable, secrets: readonly RevokedSecretCopy[]): Promise<void> {
  if (secrets.length === 0) return;
  await db.run(sql`
    insert into revoked_secret (organizer, event, id, revision, secret, position)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.secret, sent.position
      from unnest(${secrets.map((secret) => secret.organizer)}::text[],
                  ${secrets.map((secret) => secret.event)}::text[],
                  ${secrets.map((secret) => secret.id)}::bigint[],
                  ${secrets.map((secret) => secret.revision)}::bigint[],
                  ${secrets.map((secret) => secret.secret)}::text[],
                  ${secrets.map((secret) => secret.position)}::bigint[])
           as sent (organizer, event, id, revision, secret, position)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, secret = excluded.secret, position = excluded.position
         where revoked_secret.revision < excluded.revision`);
}

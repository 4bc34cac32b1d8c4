import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { indexedSecret } from "./indexed-secret.ts";
import type { EntityKey } from "./keys.ts";

/** What checkin keeps of a secret that is blocked, or was. */
export interface BlockedSecretCopy extends EntityKey {
  readonly revision: number;
  readonly secret: string;
  readonly blocked: boolean;
}

/** Takes over blocked secrets, unless a newer state is here already. */
export async function putBlockedSecrets(db: Queryable, secrets: readonly BlockedSecretCopy[]): Promise<void> {
  if (secrets.length === 0) return;
  await db.run(sql`
    insert into blocked_secret (organizer, event, id, revision, secret, blocked)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.secret, sent.blocked
      from unnest(${secrets.map((secret) => secret.organizer)}::text[],
                  ${secrets.map((secret) => secret.event)}::text[],
                  ${secrets.map((secret) => secret.id)}::bigint[],
                  ${secrets.map((secret) => secret.revision)}::bigint[],
                  ${secrets.map((secret) => secret.secret)}::text[],
                  ${secrets.map((secret) => secret.blocked)}::boolean[])
           as sent (organizer, event, id, revision, secret, blocked)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, secret = excluded.secret, blocked = excluded.blocked
         where blocked_secret.revision < excluded.revision`);
}

/** Whether the code of `ticket` is one of those that are blocked. */
export const hasBlockedCode = sql`exists (
         select from blocked_secret
          where blocked_secret.organizer = ticket.organizer and blocked_secret.event = ticket.event
            and ${indexedSecret(sql`blocked_secret.secret`)} = ${indexedSecret(sql`ticket.secret`)}
            and blocked_secret.secret = ticket.secret and blocked_secret.blocked)`;

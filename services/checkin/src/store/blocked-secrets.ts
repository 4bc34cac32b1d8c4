import { sql } from "@tessera/kit/pg/sql";
import { indexedSecret } from "./indexed-secret.ts";

export const hasBlockedCode = sql`exists (
         select from blocked_secret
          where blocked_secret.organizer = ticket.organizer and blocked_secret.event = ticket.event
            and ${indexedSecret(sql`blocked_secret.secret`)} = ${indexedSecret(sql`ticket.secret`)}
            and blocked_secret.secret = ticket.secret and blocked_secret.blocked)`;

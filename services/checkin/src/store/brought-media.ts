import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { KnownMedium } from "../domain/foresee-link.ts";
import { indexedSecret as indexed } from "./indexed-secret.ts";

interface Brought {
  readonly organizer: string;
  readonly event: string;
  /** The id of the ticket. */
  readonly position: number;
  readonly type: string;
  readonly identifier: string;
}

/** Whether a scan of a code finds a ticket of the event by its secret. Scanners may send a plus sign for a blank. */
export async function isTicketCode(db: Queryable, { organizer, event, identifier }: Brought): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
      select from unnest(${[identifier, identifier.replaceAll("+", " ")]}::text[]) as wanted (code)
        join position
          on position.organizer = ${organizer}
         and position.event = ${event}
         and ${indexed(sql`position.secret`)} = ${indexed(sql`wanted.code collate "C"`)}
         and position.secret = wanted.code) as found`);
  return found;
}

/** Reads the medium with a code, as far as it matters for a ticket that is to be exchanged for it. */
export function findMedium(
  db: Queryable,
  { organizer, event, position, type, identifier }: Brought,
): Promise<KnownMedium | undefined> {
  return db.maybeOne<KnownMedium>(sql`
    select medium.active, medium.expires_at as expires,
           exists (select from jsonb_array_elements(medium.linked_positions) as linked (ticket)
                     join position as other
                       on other.organizer = medium.organizer
                      and other.event = linked.ticket ->> 'event'
                      and other.id = (linked.ticket ->> 'id')::bigint
                     join position as own
                       on own.organizer = other.organizer and own.event = other.event and own.id = ${position}
                    where linked.ticket ->> 'event' = ${event}
                      and other.id <> own.id
                      and not other.canceled
                      and other.subevent is not distinct from own.subevent) as "isTaken"
      from reusable_medium as medium
     where medium.organizer = ${organizer}
       and medium.identifier = ${identifier}
       and medium.type = ${type}`);
}

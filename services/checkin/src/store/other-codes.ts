import type { ArrivedScan } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, instant, rowsAs, text } from "@tessera/kit/pg/table";
import { mayBeSigned } from "../domain/signed-ticket.ts";
import { indexedSecret as indexed } from "./indexed-secret.ts";
import type { LinkedTickets } from "./scan-reads.ts";

/** What a code means that belongs to no ticket. */
export interface OtherMeaning {
  /** Tickets of the event that the code leads to; null: no tickets. */
  readonly linked: LinkedTickets | null;
  /** The code belongs to a medium whose tickets are all of other events. */
  readonly isMediumElsewhere: boolean;
  /** A ticket had the code once; the ticket may be deleted. */
  readonly isRevoked: boolean;
  /** The keys of the event, as JSON, for a code that may be signed. */
  readonly ticketKeys: string | null;
}

interface Row {
  ord: number;
  linked: { event: string; id: number }[] | null;
  revoked: boolean | null;
  revoked_position: number | null;
  ticket_keys: string | null;
}

const askedColumns = {
  organizer: text,
  event: text,
  code: text.orNull,
  sourceType: text,
  at: instant,
  maybeSigned: boolean,
};

export const noMeaning: OtherMeaning = { linked: null, isMediumElsewhere: false, isRevoked: false, ticketKeys: null };

/** Finds media that are valid at the time of the scan, else revoked codes; and the keys that may have signed a code. */
export async function findOtherMeanings(
  db: Queryable,
  codes: readonly Pick<ArrivedScan, "organizer" | "event" | "code" | "sourceType" | "at">[],
): Promise<OtherMeaning[]> {
  const asked = codes.map((code) => ({ ...code, maybeSigned: code.code !== null && mayBeSigned(code.code) }));
  const rows = await db.many<Row>(sql`
    select asked.ord, medium.linked_positions as linked, revoked.is_revoked as revoked, revoked.position as revoked_position,
           case when asked.maybe_signed
                then (select event.ticket_keys::text
                        from event
                       where event.organizer = asked.organizer
                         and event.event = asked.event)
            end as ticket_keys
      from ${rowsAs("asked", askedColumns, asked, { isNumbered: true })}
      left join lateral (
        select reusable_medium.linked_positions
          from reusable_medium
         where reusable_medium.organizer = asked.organizer
           and reusable_medium.identifier = asked.code
           and reusable_medium.type = asked.source_type
           and reusable_medium.active
           and (reusable_medium.expires_at is null or reusable_medium.expires_at > asked.at)
           and jsonb_array_length(reusable_medium.linked_positions) > 0
         limit 1
      ) as medium on true
      left join lateral (
        select true as is_revoked, revoked_secret.position
          from revoked_secret
         where revoked_secret.organizer = asked.organizer
           and revoked_secret.event = asked.event
           and ${indexed(sql`revoked_secret.secret`)} = ${indexed(sql`asked.code collate "C"`)}
           and revoked_secret.secret = asked.code
         order by revoked_secret.id desc
         limit 1
      ) as revoked on true`);
  const meanings = codes.map(() => noMeaning);
  for (const row of rows) meanings[row.ord - 1] = toMeaning(row, codes[row.ord - 1]?.event);
  return meanings;
}

function toMeaning(
  { linked, revoked, revoked_position: position, ticket_keys: ticketKeys }: Row,
  event: string | undefined,
): OtherMeaning {
  const none = { ...noMeaning, ticketKeys };
  if (linked !== null) {
    const ids = linked.filter((ticket) => ticket.event === event).map(({ id }) => id);
    return ids.length === 0 ? { ...none, isMediumElsewhere: true } : { ...none, linked: { by: "medium", ids } };
  }
  if (revoked !== true) return none;
  return { ...none, isRevoked: true, linked: position === null ? null : { by: "revoked", ids: [position] } };
}

import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { isPlacedIn } from "@tessera/kit/pg/with-key";
import type { MediumCode } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";

/** A ticket of one of the organizer's events. */
export interface LinkedTicket {
  readonly event: string;
  readonly id: number;
}

interface Ticket extends Scope {
  readonly position: number;
}

/** Reads the document of the medium with a code. */
export async function findMedium(
  db: Queryable,
  { organizer, type, identifier }: MediumCode & Pick<Scope, "organizer">,
): Promise<unknown> {
  const row = await db.maybeOne<{ data: unknown }>(sql`
    select reusable_medium.data
      from reusable_medium
     where reusable_medium.organizer = ${organizer}
       and reusable_medium.identifier = ${identifier}
       and reusable_medium.type = ${type}`);
  return row?.data;
}

/**
 * Whether a ticket has a medium of a type that is in use, with another code. Few media have its id among their links, but
 * most have its event: only the id is in the indexed condition. Without statistics a plain condition on the organizer would
 * select another index, and read all of its media.
 */
export async function hasOtherMedium(
  db: Queryable,
  { organizer, event, position }: Ticket,
  { type, identifier, now }: MediumCode & { readonly now: number },
): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
      select from reusable_medium as medium
       where medium.organizer || '' = ${organizer}
         and medium.data -> 'linked_orderpositions' @> jsonb_build_array(jsonb_build_object('id', ${position}::bigint))
         and medium.data @> jsonb_build_object('linked_orderpositions',
               jsonb_build_array(jsonb_build_object('event', ${event}::text, 'id', ${position}::bigint)))
         and medium.type = ${type}
         and medium.identifier <> ${identifier}
         and (medium.data -> 'active')::boolean
         and (medium.data ->> 'expires' is null
              or (medium.data ->> 'expires')::timestamptz > ${toTimestamp(now)}::timestamptz)) as found`);
  return found;
}

/** Whether one of these other positions of its event can be used beside a ticket: it is not canceled, and of the same date. */
export async function hasUsableBeside(
  db: Queryable,
  { organizer, event, position }: Ticket,
  others: readonly number[],
): Promise<boolean> {
  if (others.length === 0) return false;
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
      select from position as own
        join position as other on other.organizer = own.organizer and other.event = own.event
       where own.organizer = ${organizer}
         and own.event = ${event}
         and own.id = ${position}
         and other.id = any(${others}::bigint[])
         and not other.canceled
         and other.subevent is not distinct from own.subevent) as found`);
  return found;
}

/** Whether a scan of a code finds a ticket of the event by its secret. Scanners may send a plus sign for a blank. */
export async function isTicketCode(db: Queryable, { organizer, event }: Scope, code: string): Promise<boolean> {
  const wanted = [code, code.replaceAll("+", " ")].map((secret) => `${organizer}/${event}/${secret}`);
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
      select from unnest(${wanted}::text[]) as wanted (ticket)
       cross join lateral (
         select position.id
           from position
          where (position.organizer || '/' || position.event || '/' || position.secret) = wanted.ticket
          limit 1) as position) as found`);
  return found;
}

/** Draws an id from a range that no record may use. */
export async function nextMadeMedium(tx: Tx): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval('made_medium_id_seq') as id`);
  return id;
}

/** Notes that a ticket was exchanged for a medium here. */
export async function noteExchanged(
  tx: Tx,
  { organizer, event, position }: Ticket,
  { medium }: { readonly medium: number },
): Promise<void> {
  await tx.run(sql`
    insert into exchanged_ticket (organizer, medium, event, position)
    values (${organizer}, ${medium}, ${event}, ${position})
        on conflict do nothing`);
}

/** Reads the documents of media. */
export async function readMedia(tx: Tx, organizer: string, ids: readonly number[]): Promise<unknown[]> {
  const rows = await tx.many<{ data: unknown }>(sql`
    select reusable_medium.data
      from reusable_medium
     where reusable_medium.organizer = ${organizer}
       and reusable_medium.id = any(${ids}::bigint[])
     order by reusable_medium.id`);
  return rows.map(({ data }) => data);
}

/** Whether tickets of an event were exchanged here. */
export async function hasExchanged(db: Queryable, { organizer, event }: Scope): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
      select from exchanged_ticket as exchanged
       where exchanged.organizer = ${organizer}
         and exchanged.event = ${event}) as found`);
  return found;
}

/** Forgets the next tickets of an event that were exchanged, and returns them. */
export function forgetExchangedOf(
  tx: Tx,
  { organizer, event }: Scope,
  { limit }: { readonly limit: number },
): Promise<{ readonly medium: number; readonly position: number }[]> {
  return tx.many(sql`
    with next as materialized (
      select exchanged.ctid
        from exchanged_ticket as exchanged
       where exchanged.organizer = ${organizer}
         and exchanged.event = ${event}
       order by exchanged.position
       limit ${limit}
    )
    delete from exchanged_ticket as exchanged
     where ${isPlacedIn(sql`exchanged`, sql`next`)}
    returning exchanged.medium, exchanged.position`);
}

/** Forgets what was exchanged for media that are deleted. */
export async function forgetExchanged(tx: Tx, organizer: string, media: readonly number[]): Promise<void> {
  await tx.run(sql`
    delete from exchanged_ticket
     where exchanged_ticket.organizer = ${organizer}
       and exchanged_ticket.medium = any(${media}::bigint[])`);
}

/** Reads the tickets that were exchanged here for media, by the id of the medium. */
export async function readExchanged(
  tx: Tx,
  organizer: string,
  media: readonly number[],
): Promise<ReadonlyMap<number, readonly LinkedTicket[]>> {
  const rows = await tx.many<LinkedTicket & { readonly medium: number }>(sql`
    select exchanged.medium, exchanged.event, exchanged.position as id
      from exchanged_ticket as exchanged
     where exchanged.organizer = ${organizer}
       and exchanged.medium = any(${media}::bigint[])
     order by exchanged.medium, exchanged.event, exchanged.position`);
  return Map.groupBy(rows, ({ medium }) => medium);
}

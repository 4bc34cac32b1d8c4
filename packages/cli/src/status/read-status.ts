import { countDeadLetters } from "@tessera/kit/bus/operators";
import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** An API key or a device, without its token. */
export interface Credential {
  readonly organizer: string;
  readonly kind: "api_key" | "device";
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
}

export interface EventCounts {
  readonly organizer: string;
  readonly event: string;
  readonly items: number;
  readonly orders: number;
  readonly positions: number;
  readonly lists: number;
}

/** The consumer lag of a service, and its waiting facts. */
export interface ServiceLag {
  readonly service: string;
  readonly waiting: number;
  readonly seconds: number;
  readonly parked: number;
}

export function readCredentials(boxoffice: Db): Promise<Credential[]> {
  return boxoffice.many(sql`
    select credential.organizer, credential.kind, credential.id,
           coalesce(credential.data ->> 'name', '') as name,
           coalesce((credential.data ->> 'active')::boolean, true)
             and not coalesce((credential.data ->> 'revoked')::boolean, false) as "isActive"
      from credential
     order by credential.organizer, credential.kind, credential.id`);
}

export async function readEvents({ boxoffice, checkin }: { boxoffice: Db; checkin: Db }): Promise<EventCounts[]> {
  const events = await boxoffice.many<Omit<EventCounts, "lists">>(sql`
    select event.organizer, event.slug as event,
           (select count(*) from item where item.organizer = event.organizer and item.event = event.slug) as items,
           (select count(*)
              from "order" where "order".organizer = event.organizer and "order".event = event.slug) as orders,
           (select count(*)
              from position where position.organizer = event.organizer and position.event = event.slug) as positions
      from event
     where not event.is_removed
     order by event.organizer, event.slug`);
  const lists = await checkin.many<{ organizer: string; event: string; count: number }>(sql`
    select list.organizer, list.event, count(*) as count
      from list
     group by list.organizer, list.event`);
  return events.map((each) => ({
    ...each,
    lists: lists.find(({ organizer, event }) => organizer === each.organizer && event === each.event)?.count ?? 0,
  }));
}

/** A reader needs no greater number. */
const mostCounted = 10_000;

/** Reads the lag of a service's facts. */
export async function readLag({ name, db }: { readonly name: string; readonly db: Db }): Promise<ServiceLag> {
  const { waiting, seconds } = await readOutbox(db, { atMost: mostCounted });
  const letters = await countDeadLetters(db, { group: name, atMost: mostCounted });
  return { service: name, waiting, seconds, parked: letters.reduce((sum, { count }) => sum + count, 0) };
}

import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** What still refers to something, in the plural: `orders`. By its key. */
export type Users = ReadonlyMap<string, string>;

/*
 * Nothing but removals asks these questions, so no index serves them: they read the rows of one event or organizer.
 */

/** Finds out which of these sales channels have sold something. */
export function ofSalesChannels(tx: Queryable, { organizer }: Scope, identifiers: readonly string[]): Promise<Users> {
  return users(tx, sql`
    select wanted.key, 'orders' as users
      from unnest(${identifiers}::text[]) as wanted (key)
     where wanted.key <> 'web'
       and exists (select
                     from "order"
                    where "order".organizer = ${organizer}
                      and "order".data ->> 'sales_channel' = wanted.key)`);
}

/** Finds out which of these gates have devices. */
export function ofGates(tx: Queryable, { organizer }: Scope, ids: readonly string[]): Promise<Users> {
  return users(tx, sql`
    select wanted.key, 'devices' as users
      from unnest(${ids}::text[]) as wanted (key)
     where exists (select
                     from credential
                    where credential.organizer = ${organizer}
                      and credential.kind = 'device'
                      and credential.data ->> 'gate' = wanted.key)`);
}

/** Finds out which of these organizers have events. */
export function ofOrganizers(tx: Queryable, slugs: readonly string[]): Promise<Users> {
  return users(tx, sql`
    select wanted.key, 'events' as users
      from unnest(${slugs}::text[]) as wanted (key)
     where exists (select from event where event.organizer = wanted.key)`);
}

/** Finds out which of these dates have quotas or positions. */
export function ofSubevents(tx: Queryable, { organizer, event }: Scope, ids: readonly string[]): Promise<Users> {
  return users(tx, sql`
    select wanted.id::text as key, concat_ws(' and ', used.by_quotas, used.by_positions) as users
      from unnest(${ids}::bigint[]) as wanted (id),
           lateral (select case when exists (select
                                               from quota
                                              where quota.organizer = ${organizer}
                                                and quota.event = ${event}
                                                and (quota.data -> 'subevent')::bigint = wanted.id) then 'quotas' end as by_quotas,
                           case when exists (select
                                               from position
                                              where position.organizer = ${organizer}
                                                and position.event = ${event}
                                                and position.subevent = wanted.id) then 'positions' end as by_positions) as used
     where coalesce(used.by_quotas, used.by_positions) is not null`);
}

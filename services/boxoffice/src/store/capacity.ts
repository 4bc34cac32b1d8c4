import { eventKey } from "@tessera/events/entity-key";
import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, text } from "@tessera/kit/pg/table";
import type { QuotaLimits } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";

/**
 * Writes the part of a statement that adds to the taken capacity of an event. `changes` has the columns subevent, item,
 * variation, taken_as and positions; rows that take nothing are allowed.
 */
export function addTaken({ organizer, event }: Scope, changes: Sql): Sql {
  return sql`
    insert into taken_capacity as kept (organizer, event, subevent, item, variation, taken_as, positions)
    select ${organizer}, ${event}, change.subevent, change.item, change.variation, change.taken_as, sum(change.positions)
      from (${changes}) as change
     where change.taken_as is not null
     group by change.subevent, change.item, change.variation, change.taken_as
    having sum(change.positions) <> 0
        on conflict (organizer, event, subevent, item, variation, taken_as) do update
       set positions = kept.positions + excluded.positions`;
}

/** The key of the taken capacity of a product on a date, by payment state; 0: no date, no variation. */
export const takenKey = { ...eventKey, subevent: bigint, item: bigint, variation: bigint, taken: text };

const product = (row: Sql) => sql`
  ${row}.organizer, ${row}.event, coalesce(${row}.subevent, 0) as subevent, ${row}.item, coalesce(${row}.variation, 0) as variation`;

const isThere = (row: Sql) => sql`
  exists (select from event where event.organizer = ${row}.organizer and event.slug = ${row}.event and not event.is_removed)`;

/** The capacity that positions take, as counted and as computed from orders and positions, for the reconciliation. */
export const takenRows = sql`
  select ${product(sql`kept`)}, kept.taken_as as taken, 0 as revision, kept.positions::text as content
    from taken_capacity as kept
   where kept.positions <> 0
     and ${isThere(sql`kept`)}`;
export const recountedTakenRows = sql`
  select ${product(sql`counted`)}, counted.taken, counted.revision, counted.positions::text as content
    from (select position.organizer, position.event, position.subevent, position.item, position.variation,
                 case when "order".status = 'p' then 'paid' else 'pending' end as taken, max(position.revision) as revision,
                 count(*) as positions
            from position
            join "order"
              on "order".organizer = position.organizer
                 and "order".event = position.event
                 and "order".code = position.order_code
           where "order".status in ('p', 'n')
             and not position.canceled
           group by position.organizer, position.event, position.subevent, position.item, position.variation, taken) as counted
   where ${isThere(sql`counted`)}`;

export interface QuotaRow extends QuotaLimits {
  readonly id: number;
}

const quotaColumns = sql`
  quota.id,
  (quota.data ->> 'size')::bigint as size,
  quota.data -> 'items' as items,
  quota.data -> 'variations' as variations,
  (quota.data ->> 'subevent')::bigint as subevent,
  (quota.data -> 'closed')::boolean as closed`;

export function readQuotas(
  db: Queryable,
  { organizer, event }: Scope,
  { ids, subevents }: { readonly ids: readonly number[]; readonly subevents: readonly (number | null)[] },
): Promise<QuotaRow[]> {
  return db.many<QuotaRow>(sql`
    select ${quotaColumns}
      from quota
     where quota.organizer = ${organizer}
       and quota.event = ${event}
       and (quota.id = any(${ids}::bigint[])
            or coalesce((quota.data ->> 'subevent')::bigint, 0) = any(${subevents.map((id) => id ?? 0)}::bigint[]))`);
}

export async function readVariations(
  db: Queryable,
  scopes: readonly Scope[],
): Promise<(Scope & { readonly id: number; readonly variations: readonly number[] })[]> {
  if (scopes.length === 0) return [];
  return db.many(sql`
    select item.organizer, item.event, item.id, jsonb_path_query_array(item.data, '$.variations[*].id') as variations
      from unnest(${scopes.map(({ organizer }) => organizer)}::text[],
                  ${scopes.map(({ event }) => event)}::text[]) as wanted (organizer, event)
      join item
        on item.organizer = wanted.organizer
           and item.event = wanted.event`);
}

/** Reads the limited quotas of events, ordered by event and id. */
export function readLimitedQuotas(db: Queryable, scopes: readonly Scope[]): Promise<(Scope & QuotaRow)[]> {
  return db.many<Scope & QuotaRow>(sql`
    select quota.organizer, quota.event, ${quotaColumns}
      from unnest(${scopes.map(({ organizer }) => organizer)}::text[],
                  ${scopes.map(({ event }) => event)}::text[]) as wanted (organizer, event)
      join quota
        on quota.organizer = wanted.organizer
           and quota.event = wanted.event
     where quota.data ->> 'size' is not null
     order by quota.organizer, quota.event, quota.id`);
}

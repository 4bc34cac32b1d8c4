import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import type { Scope } from "../domain/scope.ts";
import type { StoredEvent } from "./events.ts";
import { type StoredPosition, storedPosition } from "./positions.ts";
import { orderWithCode } from "./stored-orders.ts";

/** A position, with the fields that select its layout. */
export interface TicketRow {
  readonly position: number;
  readonly order: string;
  readonly item: number;
  readonly salesChannel: string;
}

/** Finds which of these positions are not canceled, in the order of the request. */
export async function findTicketRows(
  db: Queryable,
  { organizer, event }: Scope,
  positions: readonly number[],
): Promise<TicketRow[]> {
  // Each order is read once, however many of its positions are wanted: it may be large.
  return db.many<TicketRow>(sql`
    with found as materialized (
      select wanted.place, position.id, position.order_code, position.item
        from unnest(${positions}::bigint[]) with ordinality as wanted (id, place)
       cross join lateral (select position.id, position.order_code, position.item, position.canceled
                             from position
                            where ${withKey(sql`position.organizer, position.event, position.id`, sql`${organizer}, ${event}, wanted.id`)}
                            limit 1) as position
       where not position.canceled
         and exists (select
                       from event
                      where event.organizer = ${organizer}
                        and event.slug = ${event}
                        and not event.is_removed)
    ), sold as materialized (
      select jsonb_object_agg("order".code, "order".sales_channel) as channels
        from (select distinct found.order_code from found) as named
       cross join lateral (${orderWithCode({ organizer, event }, { code: sql`named.order_code`, columns: sql`"order".code, "order".data ->> 'sales_channel' as sales_channel` })}) as "order"
    )
    select found.id as position, found.order_code as order, found.item,
           sold.channels ->> found.order_code as "salesChannel"
      from found
     cross join sold
     where sold.channels ? found.order_code
     order by found.place`);
}

/** Finds the newest positions of an event, without canceled ones and those of some orders. */
export async function findNewest(
  db: Queryable,
  { organizer, event }: Scope,
  { most, except }: { readonly most: number; readonly except: readonly string[] },
): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    select position.id
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and not position.canceled
       and position.order_code <> all(${except}::text[])
     order by position.id desc
     limit ${most}`);
  return rows.map(({ id }) => id);
}

export interface SoldPosition extends StoredPosition {
  readonly orderCode: string;
  readonly item: number;
  readonly subevent: number | null;
}

/** Reads all positions of orders: of the first ones up to `mostBytes` together, and of the first in any case. */
export async function readPositionsOfOrders(
  db: Queryable,
  { organizer, event }: Scope,
  { orders, mostBytes }: { readonly orders: readonly string[]; readonly mostBytes: number },
): Promise<SoldPosition[]> {
  // Each position is looked up by key: a plan that expects a thousand positions per order would read the whole table.
  // Scans are known to check-in, those made elsewhere too.
  const stored = sql`
    cross join lateral (select position.organizer, position.event, position.id, position.order_code, position.positionid,
                               position.item, position.subevent, position.state, null::bytea as earlier_checkins,
                               position.answers_revision, position.revision
                          from position
                         where position.organizer = ${organizer}
                           and position.event = ${event}
                           and position.id = listed.id
                         limit 1) as position`;
  return db.many<SoldPosition>(sql`
    with listed as materialized (
      select wanted.place, element.id::bigint as id
        from unnest(${orders}::text[]) with ordinality as wanted (code, place)
       cross join lateral (${orderWithCode({ organizer, event }, { code: sql`wanted.code`, columns: sql`"order".data` })}) as "order"
       cross join lateral jsonb_path_query("order".data, '$.positions[*].id') as element (id)
    ), sized as (
      select listed.place,
             sum(sum(octet_length(position.state))) over (order by listed.place) as bytes
        from listed ${stored}
       group by listed.place
    )
    select ${storedPosition(sql`position`)}, position.order_code as "orderCode", position.item, position.subevent
      from sized
      join listed on listed.place = sized.place
           ${stored}
     where sized.place = 1
        or sized.bytes <= ${mostBytes}
     order by listed.place, position.positionid, position.id`);
}

/** Reads an event that is not removed, and its organizer. */
export async function readEvent<Data, Settings>(
  db: Queryable,
  { organizer, event }: Scope,
): Promise<(StoredEvent<Data, Settings> & { readonly organizer: object }) | undefined> {
  return db.maybeOne(sql`
    select organizer.data as organizer, event.slug, event.data, event.settings, event.revision
      from event
      join organizer on organizer.slug = event.organizer
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and not event.is_removed`);
}

/** The references of positions. */
export interface Named {
  readonly orders: readonly string[];
  readonly subevents: readonly number[];
  readonly items: readonly number[];
  /** Tickets whose linked medium is wanted. */
  readonly tickets: readonly number[];
}

export type DocumentKind = "order" | "subevent" | "item" | "category" | "question" | "medium";

/** A JSON document by id or code; of a medium, the key is the id of the position, and the text its identifier. */
export interface NamedDocument {
  readonly kind: DocumentKind;
  readonly key: string;
  readonly text: string;
}

/** Reads the references of positions, and all questions of the event. */
export async function readNamed(db: Queryable, scope: Scope, named: Named): Promise<NamedDocument[]> {
  const { organizer, event } = scope;
  return db.many<NamedDocument>(sql`
    select 'order' as kind, "order".code as key,
           ("order".data - '{positions,fees,comment,api_meta,secret}'::text[])::text as text
      from "order"
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${named.orders}::text[])
     union all
    select 'subevent', subevent.id::text, subevent.data::text
      from subevent
     where ${isOfEvent(sql`subevent`, scope)}
       and subevent.id = any(${named.subevents}::bigint[])
     union all
    select 'item', item.id::text, item.data::text
      from item
     where ${isOfEvent(sql`item`, scope)}
       and item.id = any(${named.items}::bigint[])
     union all
    select 'category', category.id::text, category.data::text
      from category
     where ${isOfEvent(sql`category`, scope)}
       and category.id in (select (item.data ->> 'category')::bigint
                             from item
                            where ${isOfEvent(sql`item`, scope)}
                              and item.id = any(${named.items}::bigint[]))
     union all
    select 'question', question.id::text, question.data::text
      from question
     where ${isOfEvent(sql`question`, scope)}
     union all
    -- Few media have this id among their links, but most have the event: only the id is in the indexed condition.
    select 'medium', ticket.id::text, linked.identifier
      from unnest(${named.tickets}::bigint[]) as ticket (id)
     cross join lateral (select (array_agg(medium.identifier order by medium.id))[1] as identifier
                           from reusable_medium as medium
                          where medium.organizer = ${organizer}
                            and medium.data -> 'linked_orderpositions'
                                @> jsonb_build_array(jsonb_build_object('id', ticket.id))
                            and medium.data
                                @> jsonb_build_object('linked_orderpositions',
                                     jsonb_build_array(jsonb_build_object('event', ${event}::text, 'id', ticket.id)))
                         having count(*) > 0) as linked`);
}

function isOfEvent(row: Sql, { organizer, event }: Scope): Sql {
  return sql`${row}.organizer = ${organizer} and ${row}.event = ${event}`;
}

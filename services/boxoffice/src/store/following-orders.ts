import type { EventKey } from "@tessera/events/entity-key";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { OrderDocument } from "./erase-documents.ts";
import { orderWithCode } from "./stored-orders.ts";

/** The keyset cursor: after an order, or within it, at the index of one of its positions. */
export interface Start {
  readonly code: string;
  readonly position?: number;
}

export interface OrderPart<T> {
  readonly code: string;
  /** The index of the position; null: the order has none. */
  readonly index: number | null;
  readonly isLast: boolean;
  readonly data: T;
}

/** Limits of one read and one erasure, so that other records of the organizer wait only a fraction of a second. */
export const most = { read: 200, erased: 500, storedBytes: 4 * 2 ** 20 };

/** The most positions that are erased at once. An order with more is erased alone. */
export const positionsAtATime = 500;

/** Orders are stored compressed, so the shown part of positions has a limit of its own. */
const mostShownBytes = 2 * 2 ** 20;

/** The tolerated clock skew of shops: a later time does not tell when the order was placed. */
const mostAhead = sql`interval '5 minutes'`;

/** The next orders of an event by their codes: at least one, more if they are few and small. */
function following({ organizer, event }: EventKey, { code, position }: Start): Sql {
  return sql`
    (select counted.code, counted.data
       from (select next.code, next.data,
                    sum(pg_column_size(next.data)) over (order by next.code) - pg_column_size(next.data) as before
               from (select "order".code, "order".data
                       from "order"
                      where "order".organizer = ${organizer}
                        and "order".event = ${event}
                        and "order".code ${position === undefined ? sql`>` : sql`>=`} ${code} collate "C"
                      order by "order".code
                      limit ${most.read}) as next) as counted
      where counted.before = 0
         or counted.before < ${most.storedBytes}) as following`;
}

/** Reads the next order codes of an event. */
export async function readCodes(
  db: Queryable,
  { organizer, event }: EventKey,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db.many<{ code: string }>(sql`
    select "order".code
      from "order"
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code > ${after} collate "C"
     order by "order".code
     limit ${limit}`);
  return rows.map(({ code }) => code);
}

/**
 * Reads the first of some orders, in order: several with few positions and few bytes, or one. `before`, in microseconds
 * since 1970: only orders placed before, or with a time in the future.
 */
export async function readFirst(
  tx: Tx,
  { organizer, event }: EventKey,
  { codes, before }: { readonly codes: readonly string[]; readonly before: number | undefined },
): Promise<OrderDocument[]> {
  const placedAt = sql`("order".data ->> 'datetime')::timestamptz`;
  const isPlaced =
    before === undefined
      ? sql`true`
      : sql`(${placedAt} < ${toTimestamp(before)}::timestamptz or ${placedAt} > clock_timestamp() + ${mostAhead})`;
  return tx.many<OrderDocument>(sql`
    select counted.code, counted.data
      from (select "order".code, "order".data, wanted.nth,
                   sum(pg_column_size("order".data)) over (order by wanted.nth) - pg_column_size("order".data) as before,
                   sum(jsonb_array_length("order".data -> 'positions')) over (order by wanted.nth) as positions
              from unnest(${codes.slice(0, most.erased)}::text[]) with ordinality as wanted (code, nth)
             cross join lateral (${orderWithCode({ organizer, event }, { code: sql`wanted.code`, columns: sql`"order".code, "order".data` })}) as "order"
             where ${isPlaced}) as counted
     where counted.before = 0
        or (counted.before < ${most.storedBytes} and counted.positions <= ${positionsAtATime})
     order by counted.nth`);
}

/** Reads a field of the next orders; null: an order does not have the field. */
export function readField(db: Queryable, place: EventKey, start: Start, field: string): Promise<OrderPart<unknown>[]> {
  return db.many<OrderPart<unknown>>(sql`
    select following.code, null as index, true as "isLast", following.data -> ${field}::text as data
      from ${following(place, start)}
     order by following.code`);
}

/** Reads fields of the next positions. Missing fields are null. */
export function readPositionFields<T>(
  db: Queryable,
  place: EventKey,
  start: Start,
  fields: readonly string[],
): Promise<OrderPart<T>[]> {
  const named = fields.map((name) => sql`${name}::text, position.data -> ${name}::text`);
  const shown = sql`jsonb_build_object(${joinSql(named, ", ")})`;
  return readPositions<T>(db, place, start, { shown, size: sql`octet_length(written.data)` });
}

/** Reads the next positions, as many as have answers that can be read at once. */
export function readAnswerable(
  db: Queryable,
  place: EventKey,
  start: Start,
): Promise<OrderPart<{ readonly id: number; readonly positionid: number }>[]> {
  const shown = sql`jsonb_build_object('id', position.data -> 'id', 'positionid', position.data -> 'positionid')`;
  const id = sql`(part.data -> 'id')::bigint`;
  const size = sql`
    (select coalesce(sum(octet_length(position.state)), 0)
       from position
      where position.organizer = ${place.organizer}
        and position.event = ${place.event}
        and position.id = ${id})
    + (select coalesce(sum(octet_length(gate_answer.answer)), 0)
         from gate_answer
        where gate_answer.organizer = ${place.organizer}
          and gate_answer.event = ${place.event}
          and gate_answer.position = ${id})`;
  return readPositions(db, place, start, { shown, size });
}

function readPositions<T>(
  db: Queryable,
  place: EventKey,
  start: Start,
  { shown, size }: { readonly shown: Sql; readonly size: Sql },
): Promise<OrderPart<T>[]> {
  return db.many<OrderPart<T>>(sql`
    with part as materialized (
      select following.code, position.nth - 1 as index, ${shown} as data
        from ${following(place, start)}
        left join lateral jsonb_array_elements(following.data -> 'positions') with ordinality as position (data, nth)
          on true
       where following.code > ${start.code} collate "C"
          or position.nth is null
          or position.nth > ${start.position ?? 0}::bigint),
    sized as materialized (
      select part.code, part.index, written.data, ${size} as size
        from part
       cross join lateral (select part.data::text as data offset 0) as written)
    select counted.code, counted.index, counted.data::json as data, counted."isLast"
      from (select sized.code, sized.index, sized.data,
                   lead(sized.code) over by_index is distinct from sized.code as "isLast",
                   sum(sized.size) over by_index - sized.size as before
              from sized
            window by_index as (order by sized.code, sized.index)) as counted
     where counted.before < ${mostShownBytes}
     order by counted.code, counted.index`);
}

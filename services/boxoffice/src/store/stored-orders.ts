import { entityKey } from "@tessera/events/entity-key";
import type { Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { rowsAs } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { Scope } from "../domain/scope.ts";

export interface OrderRow {
  readonly code: string;
  readonly status: string;
  readonly document: string;
}

/** Upserts orders without the rows of their positions; unchanged orders are not written. */
export async function upsert(tx: Tx, { organizer, event }: Scope, rows: readonly OrderRow[]): Promise<void> {
  await tx.run(sql`
    insert into "order" as kept (organizer, event, code, status, data, revision)
    select ${organizer}, ${event}, incoming.code, incoming.status, incoming.data, nextval('revision_seq')
      from rows from (unnest(${rows.map((row) => row.code)}::text[]),
                      unnest(${rows.map((row) => row.status)}::text[]),
                      jsonb_array_elements(${`[${rows.map((row) => row.document).join(",")}]`}::jsonb)) as incoming (code, status, data)
     order by incoming.code
        on conflict (organizer, event, code) do update
       set status = excluded.status,
           data = excluded.data,
           revision = nextval('revision_seq'),
           changed_at = clock_timestamp()
     where kept.data is distinct from excluded.data`);
}

/** Selects the order of a code, for `cross join lateral`. */
export function orderWithCode(
  { organizer, event }: Scope,
  { code, columns }: { readonly code: Sql; readonly columns: Sql },
): Sql {
  return sql`
    select ${columns}
      from "order"
     where ${withKey(sql`"order".organizer, "order".event, "order".code`, sql`${organizer}, ${event}, ${code}`)}
     limit 1`;
}

/** The JSON document of a position within that of its order. */
export interface PositionDocument {
  readonly code: string;
  readonly document: string;
}

export async function findPositionDocuments(
  tx: Tx,
  { organizer, event }: Scope,
  { codes, ids }: { readonly codes: readonly string[]; readonly ids: readonly number[] },
): Promise<PositionDocument[]> {
  return tx.many<PositionDocument>(sql`
    select "order".code, each.document::text as document
      from "order"
     cross join lateral jsonb_array_elements("order".data -> 'positions') with ordinality as each (document, place)
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${codes}::text[])
       and (each.document ->> 'id')::bigint = any(${ids}::bigint[])
     order by "order".code, each.place`);
}

/** Removes positions from the documents of orders: other orders have them now. */
export async function dropPositions(
  tx: Tx,
  { organizer, event }: Scope,
  { codes, ids }: { readonly codes: readonly string[]; readonly ids: readonly number[] },
): Promise<void> {
  await tx.run(sql`
    update "order"
       set data = jsonb_set("order".data, '{positions}', (
             select coalesce(jsonb_agg(each.document order by each.place), '[]')
               from jsonb_array_elements("order".data -> 'positions') with ordinality as each (document, place)
              where (each.document ->> 'id')::bigint <> all(${ids}::bigint[]))),
           revision = nextval('revision_seq'),
           changed_at = clock_timestamp()
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${codes}::text[])`);
}

/** Notes that orders changed in what their documents do not have: seats, and answers given at gates. */
export async function noteChanged(tx: Tx, positions: readonly (Scope & { readonly id: number })[]): Promise<void> {
  if (positions.length === 0) return;
  await tx.run(sql`
    with changed as materialized (
      select distinct position.organizer, position.event, position.order_code
        from ${rowsAs("wanted", entityKey, positions)}
       cross join lateral (
         select position.organizer, position.event, position.order_code
           from position
          where ${withKey(sql`position.organizer, position.event, position.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
          limit 1) as position
    )
    update "order"
       set changed_at = clock_timestamp()
      from changed
     where "order".organizer = changed.organizer
       and "order".event = changed.event
       and "order".code = changed.order_code`);
}

/** Finds the orders that were not changed after their removal, with the ids of their positions. */
export async function findRemovable(
  tx: Tx,
  { organizer, event }: Scope,
  { codes, removedAt }: { readonly codes: readonly string[]; readonly removedAt: ReadonlyMap<string, number> },
): Promise<{ readonly code: string; readonly positions: readonly number[] }[]> {
  const byCode = JSON.stringify(Object.fromEntries([...removedAt].map(([code, at]) => [code, toTimestamp(at)])));
  return tx.many(sql`
    select "order".code, jsonb_path_query_array("order".data, '$.positions[*].id') as positions
      from "order"
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${codes}::text[])
       and coalesce(("order".data ->> 'last_modified')::timestamptz <= (${byCode}::jsonb ->> "order".code)::timestamptz, true)`);
}

/** Deletes orders, whose positions the caller has deleted. */
export async function deleteOrders(tx: Tx, { organizer, event }: Scope, codes: readonly string[]): Promise<void> {
  await tx.run(sql`
    delete from "order"
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${codes}::text[])`);
}

/** Finds when orders were placed, in microseconds since 1970, by their codes. */
export async function findPlacedAt(
  tx: Tx,
  { organizer, event }: Scope,
  codes: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.many<{ code: string; at: number }>(sql`
    select "order".code, ("order".data ->> 'datetime')::timestamptz as at
      from "order"
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and "order".code = any(${codes}::text[])`);
  return new Map(rows.map(({ code, at }) => [code, at]));
}

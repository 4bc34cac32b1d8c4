import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { TakenAs } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import { addTaken } from "./capacity.ts";

export interface PositionRow {
  readonly id: number;
  readonly orderCode: string;
  readonly positionid: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly addonTo: number | null;
  readonly secret: string;
  readonly canceled: boolean;
  /** The id of its seat, also where it takes it no more. */
  readonly seat: number | null;
  readonly takenAs: TakenAs | null;
  readonly state: Uint8Array;
  /** Null keeps those that are stored: scans are never lost by sending a position again without them. */
  readonly earlierCheckins: Uint8Array | null;
}

export interface ChangedPosition {
  readonly id: number;
  readonly revision: number;
  readonly earlierCheckins: Uint8Array | null;
}

/** Stores positions, counts what they take, and returns those that are new or differ from what was there. */
export async function upsert(tx: Tx, scope: Scope, rows: readonly PositionRow[]): Promise<ChangedPosition[]> {
  if (rows.length === 0) return [];
  const { organizer, event } = scope;
  // All parts of a statement see the rows as they were before it: `before` is what `stored` has replaced.
  const changes = sql`
    select stored.subevent, stored.item, stored.variation, stored.taken_as, 1 as positions
      from stored
     union all
    select before.subevent, before.item, before.variation, before.taken_as, -1
      from stored
      join position as before
        on before.organizer = ${organizer}
           and before.event = ${event}
           and before.id = stored.id`;
  const changed = await tx.many<{ id: number; revision: number; earlier_checkins: Buffer | null }>(sql`
    with stored as (
      insert into position as kept (organizer, event, id, order_code, positionid, item, variation, subevent, addon_to,
                                    secret, canceled, seat, taken_as, state, earlier_checkins, revision)
      select ${organizer}, ${event}, incoming.id, incoming.order_code, incoming.positionid, incoming.item,
             incoming.variation, incoming.subevent, incoming.addon_to, incoming.secret, incoming.canceled,
             incoming.seat, incoming.taken_as, incoming.state, incoming.earlier_checkins, nextval('revision_seq')
        from unnest(${rows.map((row) => row.id)}::bigint[],
                    ${rows.map((row) => row.orderCode)}::text[],
                    ${rows.map((row) => row.positionid)}::bigint[],
                    ${rows.map((row) => row.item)}::bigint[],
                    ${rows.map((row) => row.variation)}::bigint[],
                    ${rows.map((row) => row.subevent)}::bigint[],
                    ${rows.map((row) => row.addonTo)}::bigint[],
                    ${rows.map((row) => row.secret)}::text[],
                    ${rows.map((row) => row.canceled)}::boolean[],
                    ${rows.map((row) => row.seat)}::bigint[],
                    ${rows.map((row) => row.takenAs)}::text[],
                    ${toByteaArray(rows.map((row) => row.state))}::bytea[],
                    ${toByteaArray(rows.map((row) => row.earlierCheckins))}::bytea[])
             as incoming (id, order_code, positionid, item, variation, subevent, addon_to, secret, canceled, seat,
                          taken_as, state, earlier_checkins)
       order by incoming.id
          on conflict (organizer, event, id) do update
         set order_code = excluded.order_code,
             positionid = excluded.positionid,
             item = excluded.item,
             variation = excluded.variation,
             subevent = excluded.subevent,
             addon_to = excluded.addon_to,
             secret = excluded.secret,
             canceled = excluded.canceled,
             seat = excluded.seat,
             taken_as = excluded.taken_as,
             state = excluded.state,
             earlier_checkins = coalesce(excluded.earlier_checkins, kept.earlier_checkins),
             revision = nextval('revision_seq')
       where kept.state <> excluded.state
          or kept.seat is distinct from excluded.seat
          or kept.taken_as is distinct from excluded.taken_as
          or kept.earlier_checkins is distinct from coalesce(excluded.earlier_checkins, kept.earlier_checkins)
      returning kept.id, kept.subevent, kept.item, kept.variation, kept.taken_as, kept.revision, kept.earlier_checkins
    ), counted as (${addTaken(scope, changes)})
    select stored.id, stored.revision, stored.earlier_checkins
      from stored`);
  return changed.map((row) => ({ id: row.id, revision: row.revision, earlierCheckins: row.earlier_checkins }));
}

/** Removes positions, counts what that frees, and returns the ids of those that were there. */
export async function remove(tx: Tx, scope: Scope, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const changes = sql`
    select removed.subevent, removed.item, removed.variation, removed.taken_as, -1 as positions
      from removed`;
  const removed = await tx.many<{ id: number }>(sql`
    with removed as (
      delete from position
       where position.organizer = ${scope.organizer}
         and position.event = ${scope.event}
         and position.id = any(${ids}::bigint[])
      returning position.id, position.subevent, position.item, position.variation, position.taken_as
    ), counted as (${addTaken(scope, changes)})
    select removed.id
      from removed`);
  return removed.map((row) => row.id);
}

/** Removes all positions of an event, and what was taken by them, and returns their ids. */
export async function removeAll(tx: Tx, { organizer, event }: Scope): Promise<number[]> {
  await tx.run(sql`
    delete from taken_capacity
     where taken_capacity.organizer = ${organizer}
       and taken_capacity.event = ${event}`);
  const removed = await tx.many<{ id: number }>(sql`
    delete from position
     where position.organizer = ${organizer}
       and position.event = ${event}
    returning position.id`);
  return removed.map((row) => row.id);
}

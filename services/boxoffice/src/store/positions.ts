import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

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
  readonly state: Uint8Array;
  /** Null keeps those that are stored: scans are never lost by sending a position again without them. */
  readonly earlierCheckins: Uint8Array | null;
}

export interface ChangedPosition {
  readonly id: number;
  readonly revision: number;
  readonly earlierCheckins: Uint8Array | null;
}

/** Stores positions and returns those that are new or differ from what was there. */
export async function upsert(
  tx: Tx,
  { organizer, event }: Scope,
  rows: readonly PositionRow[],
): Promise<ChangedPosition[]> {
  if (rows.length === 0) return [];
  const changed = await tx.many<{ id: number; revision: number; earlier_checkins: Buffer | null }>(sql`
    insert into position as kept (organizer, event, id, order_code, positionid, item, variation, subevent, addon_to,
                                  secret, canceled, state, earlier_checkins, revision)
    select ${organizer}, ${event}, incoming.id, incoming.order_code, incoming.positionid, incoming.item,
           incoming.variation, incoming.subevent, incoming.addon_to, incoming.secret, incoming.canceled, incoming.state,
           incoming.earlier_checkins, nextval('revision_seq')
      from unnest(${rows.map((row) => row.id)}::bigint[],
                  ${rows.map((row) => row.orderCode)}::text[],
                  ${rows.map((row) => row.positionid)}::bigint[],
                  ${rows.map((row) => row.item)}::bigint[],
                  ${rows.map((row) => row.variation)}::bigint[],
                  ${rows.map((row) => row.subevent)}::bigint[],
                  ${rows.map((row) => row.addonTo)}::bigint[],
                  ${rows.map((row) => row.secret)}::text[],
                  ${rows.map((row) => row.canceled)}::boolean[],
                  ${toByteaArray(rows.map((row) => row.state))}::bytea[],
                  ${toByteaArray(rows.map((row) => row.earlierCheckins))}::bytea[])
           as incoming (id, order_code, positionid, item, variation, subevent, addon_to, secret, canceled, state,
                        earlier_checkins)
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
           state = excluded.state,
           earlier_checkins = coalesce(excluded.earlier_checkins, kept.earlier_checkins),
           revision = nextval('revision_seq')
     where kept.state <> excluded.state
        or kept.earlier_checkins is distinct from coalesce(excluded.earlier_checkins, kept.earlier_checkins)
    returning kept.id, kept.revision, kept.earlier_checkins`);
  return changed.map((row) => ({ id: row.id, revision: row.revision, earlierCheckins: row.earlier_checkins }));
}

/** Removes positions and returns the ids of those that were there. */
export async function remove(tx: Tx, { organizer, event }: Scope, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const removed = await tx.many<{ id: number }>(sql`
    delete from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${ids}::bigint[])
    returning position.id`);
  return removed.map((row) => row.id);
}

/** Removes all positions of an event and returns their ids. */
export async function removeAll(tx: Tx, { organizer, event }: Scope): Promise<number[]> {
  const removed = await tx.many<{ id: number }>(sql`
    delete from position
     where position.organizer = ${organizer}
       and position.event = ${event}
    returning position.id`);
  return removed.map((row) => row.id);
}

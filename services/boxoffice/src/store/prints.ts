import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** Something that was printed for a position. */
export interface StoredPrint {
  readonly id: number;
  readonly successful: boolean;
  /** In microseconds since 1970. */
  readonly at: number;
  readonly source: string;
  readonly type: string;
  readonly deviceId: number | null;
  readonly info: object;
}

/** The most prints that a position shows, the newest. */
const mostShown = 100;

/** Reads the prints of positions, by their ids, in the order in which they came. */
export async function readPrints(
  db: Queryable,
  { organizer, event }: Scope,
  positions: readonly number[],
): Promise<ReadonlyMap<number, readonly StoredPrint[]>> {
  if (positions.length === 0) return new Map();
  const rows = await db.many<StoredPrint & { readonly position: number }>(sql`
    select wanted.id as position, print.id, print.successful, print.printed_at as at, print.source, print.type,
           print.device_id as "deviceId", print.info
      from unnest(${positions}::bigint[]) as wanted (id)
     cross join lateral (
       select print.id, print.successful, print.printed_at, print.source, print.type, print.device_id, print.info
         from print
        where print.organizer = ${organizer}
          and print.event = ${event}
          and print.position = wanted.id
        order by print.organizer desc, print.event desc, print.position desc, print.id desc
        limit ${mostShown}) as print
     order by wanted.id, print.id`);
  return Map.groupBy(rows, ({ position }) => position);
}

/** Stores a print; without a time: now. Undefined: the event has no such position. */
export function addPrint(
  tx: Tx,
  { organizer, event }: Scope,
  {
    position,
    at,
    ...print
  }: Omit<StoredPrint, "id" | "at"> & { readonly position: number; readonly at: number | undefined },
): Promise<StoredPrint | undefined> {
  return tx.maybeOne<StoredPrint>(sql`
    insert into print (organizer, event, position, successful, printed_at, source, type, device_id, info)
    select position.organizer, position.event, position.id, ${print.successful},
           coalesce(${toNullableTimestamp(at)}::timestamptz, clock_timestamp()), ${print.source}, ${print.type},
           ${print.deviceId}::bigint, ${JSON.stringify(print.info)}::jsonb
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = ${position}
       for key share
    returning print.id, print.successful, print.printed_at as at, print.source, print.type, print.device_id as "deviceId",
              print.info`);
}

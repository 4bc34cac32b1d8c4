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

/** Generous, for the fields of bounded size. */
const bytesBeside = 100;

/** The most prints that are kept and shown of a position, the newest. */
const mostOfOne = 20;

export interface ReadPrints {
  /** By position, in the order in which they came. */
  readonly prints: ReadonlyMap<number, readonly StoredPrint[]>;
  /** Of so many of the positions, the first ones, no print is left out. */
  readonly whole: number;
}

/** Reads the prints of positions, in the order of these, until there are `mostBytes`. */
export async function readPrints(
  db: Queryable,
  { organizer, event }: Scope,
  { positions, mostBytes }: { readonly positions: readonly number[]; readonly mostBytes: number },
): Promise<ReadPrints> {
  if (positions.length === 0) return { prints: new Map(), whole: 0 };
  // The first one that is left out is read, too: it tells where.
  const rows = await db.many<StoredPrint & { readonly position: number; readonly isLeftOut: boolean }>(sql`
    select sized.position, sized.id, sized.successful, sized.printed_at as at, sized.source, sized.type,
           sized.device_id as "deviceId", sized.info, sized.bytes > ${mostBytes} as "isLeftOut"
      from (select wanted.place, wanted.id as position, print.id, print.successful, print.printed_at, print.source, print.type,
                   print.device_id, print.info, print.bytes as own,
                   sum(print.bytes) over (order by wanted.place, print.id desc) as bytes
              from unnest(${positions}::bigint[]) with ordinality as wanted (id, place)
             cross join lateral (
               select print.id, print.successful, print.printed_at, print.source, print.type, print.device_id, print.info,
                      octet_length(print.info::text) + octet_length(print.source) + ${bytesBeside} as bytes
                 from print
                where print.organizer = ${organizer}
                  and print.event = ${event}
                  and print.position = wanted.id
                order by print.organizer desc, print.event desc, print.position desc, print.id desc
                limit ${mostOfOne}) as print) as sized
     where sized.bytes - sized.own <= ${mostBytes}
     order by sized.place, sized.id`);
  const cut = rows.find(({ isLeftOut }) => isLeftOut)?.position;
  return {
    prints: Map.groupBy(
      rows.filter(({ isLeftOut }) => !isLeftOut),
      ({ position }) => position,
    ),
    whole: cut === undefined ? positions.length : positions.indexOf(cut),
  };
}

/** Whether anything was printed for a position of an event. */
export async function hasPrints(db: Queryable, { organizer, event }: Scope): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
      select from print
       where print.organizer = ${organizer}
         and print.event = ${event}) as found`);
  return found;
}

/** Stores a print, and forgets older ones; without a time: now. Undefined: the event has no such position. */
export async function addPrint(
  tx: Tx,
  { organizer, event }: Scope,
  {
    position,
    at,
    ...print
  }: Omit<StoredPrint, "id" | "at"> & { readonly position: number; readonly at: number | undefined },
): Promise<StoredPrint | undefined> {
  const added = await tx.maybeOne<StoredPrint>(sql`
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
  if (added !== undefined)
    await tx.run(sql`
      delete from print
       where print.organizer = ${organizer}
         and print.event = ${event}
         and print.position = ${position}
         and print.id <= (select newer.id
                            from print as newer
                           where newer.organizer = ${organizer}
                             and newer.event = ${event}
                             and newer.position = ${position}
                           order by newer.id desc
                          offset ${mostOfOne}
                           limit 1)`);
  return added;
}

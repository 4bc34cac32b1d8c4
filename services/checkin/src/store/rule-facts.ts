import type { RuledScan, RuleFacts, ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";
import { bindPacked, packed, unpack } from "./packed.ts";
import { presenceByKey } from "./presence-by-key.ts";
import { mostRuledScans, newestScans } from "./ticket-rows.ts";

type Dates = RuleFacts["dates"];

export interface RuledDates {
  readonly timezone: string;
  /** The dates of the event, for tickets without a date. */
  readonly ofEvent: Dates;
  readonly ofSubevents: ReadonlyMap<number, Dates>;
}

interface DatesRow {
  readonly date_from: number | null;
  readonly date_to: number | null;
  readonly date_admission: number | null;
}

export async function readDates(
  db: Queryable,
  { organizer, event }: EventKey,
  subevents: readonly number[],
): Promise<RuledDates> {
  const own = await db.one<DatesRow & { timezone: string }>(sql`
    select event.timezone, event.date_from_at as date_from, event.date_to_at as date_to,
           event.date_admission_at as date_admission
      from event
     where event.organizer = ${organizer} and event.event = ${event}`);
  const rows = await db.many<DatesRow & { id: number }>(sql`
    select subevent.id, subevent.date_from_at as date_from, subevent.date_to_at as date_to,
           subevent.date_admission_at as date_admission
      from subevent
     where subevent.organizer = ${organizer} and subevent.event = ${event} and subevent.id = any(${subevents}::bigint[])`);
  return {
    timezone: own.timezone,
    ofEvent: toDates(own),
    ofSubevents: new Map(rows.map(({ id, ...row }) => [id, toDates(row)])),
  };
}

function toDates({ date_from: from, date_to: to, date_admission: admission }: DatesRow): Dates {
  return { from, to, admission };
}

/** The scans of a ticket on a list, as far as its presence has them. */
export interface SummedScans {
  readonly count: number;
  readonly newest: RuledScan;
}

type PackedScans = Readonly<Record<"ids" | "counts" | "times" | "entries", string>>;

/** Reads the presences of many tickets on a list. Tickets without a scan are left out. */
export async function readSummedScans(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<ReadonlyMap<number, SummedScans>> {
  // Each scan and each annulment increments the version.
  const texts = await db.one<PackedScans>(sql`
    select ${packed(sql`presence.position`)} as ids, ${packed(sql`presence.version`)} as counts,
           ${packed(sql`coalesce(${inMicroseconds(sql`presence.last_at`)}, 0)`)} as times,
           ${packed(sql`coalesce((presence.last_type = 'entry')::integer, 0)`)} as entries
      from unnest(${bindPacked(ids)}) as judged (id)
     cross join lateral (${presenceByKey(sql`judged.id, ${list}, ${event}, ${organizer}`)}) as presence`);
  const [counts, times, entries] = [unpack(texts.counts), unpack(texts.times), unpack(texts.entries)];
  return new Map(
    unpack(texts.ids).map((id, index) => [
      id,
      { count: counts[index] ?? 0, newest: { type: entries[index] === 1 ? "entry" : "exit", at: times[index] ?? 0 } },
    ]),
  );
}

/** Reads the scans that rules ask about, newest first. Tickets without a scan are left out. */
export async function readRuledScans(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<ReadonlyMap<number, RuleFacts["scans"]>> {
  const rows = await db.many<{ id: number; at: number[]; types: ScanType[] }>(sql`
    select presence.position as id, ruled.at, ruled.types
      from unnest(${ids}::bigint[]) as judged (id)
     cross join lateral (${presenceByKey(sql`judged.id, ${list}, ${event}, ${organizer}`)}) as presence
     cross join lateral (
       select array_agg(scan.at order by scan.at desc, scan.id desc) as at,
              array_agg(scan.type order by scan.at desc, scan.id desc) as types
         from (${newestScans({ list: sql`${list}`, most: sql`${mostRuledScans}` })}) as scan
     ) as ruled
     where ruled.at is not null`);
  return new Map(rows.map(({ id, at, types }) => [id, at.map((time, n) => ({ at: time, type: types[n] ?? "entry" }))]));
}

import type { Presence, ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { type OutboxFact, outboxRows } from "@tessera/kit/pg/outbox";
import { sparseColumn } from "@tessera/kit/pg/sparse-column";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { rowsAs } from "@tessera/kit/pg/table";
import { covers, type DueList, isUnchanged } from "./due-lists.ts";
import { attendeesAreErased } from "./erase-answers.ts";
import { findPlaces, type ListPlace, placeColumns } from "./find-places.ts";

/** A scan that is ready to be stored. Fields that a device did not send are null or left out. */
export interface ScanToStore {
  readonly id: number;
  readonly organizer: string;
  readonly event: string;
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  readonly at: number;
  /** Null: the code is the ticket's own, which is stored nowhere else. */
  readonly rawCode?: string | null;
  readonly sourceType?: string;
  /** The entity that a device took the code for. */
  readonly rawItem?: number | null;
  readonly rawVariation?: number | null;
  readonly rawSubevent?: number | null;
  readonly nonce?: string | null;
  readonly deviceId?: number | null;
  readonly gate?: number | null;
  readonly forced?: boolean;
  readonly forceSent?: boolean;
  /** The objection that `force` overruled. */
  readonly overruled?: string | null;
  /** An entry that is older than a scan that was stored before. */
  readonly isOutOfOrder?: boolean;
  /** Its list has a count of persons, which may not be complete yet. */
  readonly isLimited?: boolean;
  /** Not scanned by a device: the list checks its tickets out. */
  readonly isAutomatic?: boolean;
  /** Null: the scan is refused. */
  readonly admission: {
    /** The presence after the scan; it is stored only if the stored version is one less (optimistic locking). */
    readonly presence: Presence;
    /** The increments of the counts. */
    readonly entered: number;
    readonly inside: number;
  } | null;
  /** Null: the scan is admitted. */
  readonly refusal: { readonly reason: string; readonly explanation: string | null } | null;
  readonly fact: OutboxFact;
}

/**
 * Stores scans with presences, counts and facts, in one statement, with at most one admission of each ticket and list.
 *
 * Returns the indexes of the stored scans. The others are to be decided again: another scan of the ticket was stored
 * first, the ticket or the list is locked, or the database has lost the ids.
 *
 * The list is locked against deletion; the ticket, so that its bucket does not change before the scan is counted.
 * Locked rows are skipped: a busy ticket must not delay the others. Presences are locked in key order, against
 * deadlocks.
 *
 * A refusal does not lock its ticket. If the ticket is deleted while the statement runs, the scan is an orphan, which
 * is deleted with the note of the deletion. If attendee data of the event was erased, code and explanation are not
 * stored.
 *
 * A list whose persons are counted is locked until the commit: an admission beyond its hard limit is not stored, unless it
 * overruled something. What a batch lets out makes room for later ones alone, because it may not be stored.
 *
 * With `asRead`, scans are stored only if that list is unchanged and covers their tickets; it is locked against
 * changes, too.
 */
export async function storeScans(
  db: Queryable,
  {
    topic,
    scans,
    asRead,
  }: { readonly topic: string; readonly scans: readonly ScanToStore[]; readonly asRead?: DueList },
): Promise<Set<number>> {
  const { places, placeOf } = findPlaces(scans);
  const admissions = scans.map(({ admission }) => admission);
  const isLimited = scans.some((scan) => scan.isLimited === true);
  // A range, not `exists`: a plan cached while the table was small would read the whole table for every batch.
  const isThere = sql`coalesce(
    (select true
       from position
      where (position.organizer, position.event, position.id) >= (decided.organizer, decided.event, decided.position)
        and (position.organizer, position.event, position.id) <= (decided.organizer, decided.event, decided.position)
      order by position.organizer, position.event, position.id
      limit 1), false)`;
  // Not a join: planned for few rows, it would be a nested loop over all scans.
  const isKept = (ord: Sql) => sql`${ord} = any(array(select kept.ord from kept))`;
  // Columns that most scans lack are sent as one null for all.
  const rows = await db.many<{ ord: number }>(sql`
    with held_list as (
      ${asRead === undefined ? lockLists(places, Math.max(...scans.map(({ id }) => id))) : lockAsRead(asRead)}
    ), decided as materialized (
      select held_list.place, held_list.organizer, held_list.event, held_list.list, sent.position, sent.version, sent.entries,
             sent.last_type,
             coalesce(sent.last_at, sent.at) as last_at, sent.entered, sent.inside, sent.id, sent.type, sent.reason,
             case when not held_list.is_erased then sent.explanation end as explanation,
             case when not held_list.is_erased then sent.raw_code end as raw_code,
             coalesce(sent.source_type, 'barcode') as source_type, sent.raw_item, sent.raw_variation, sent.raw_subevent, sent.at,
             sent.nonce, sent.device_id, sent.gate, coalesce(sent.forced, false) as forced,
             coalesce(sent.force_sent, false) as force_sent, sent.overruled,
             coalesce(sent.is_out_of_order, false) as is_out_of_order,
             coalesce(sent.is_automatic, false) as is_automatic, sent.ord
        from unnest(${placeOf}::bigint[],
                    ${scans.map((scan) => scan.position)}::bigint[],
                    ${sparseColumn(admissions.map((admission) => admission?.presence.version))}::bigint[],
                    ${sparseColumn(admissions.map((admission) => admission?.presence.entries))}::bigint[],
                    ${sparseColumn(admissions.map((admission) => admission?.presence.last?.type))}::text[],
                    ${sparseColumn(scans.map(olderLast))}::timestamptz[],
                    ${sparseColumn(admissions.map((admission) => admission?.entered))}::bigint[],
                    ${sparseColumn(admissions.map((admission) => admission?.inside))}::bigint[],
                    ${scans.map((scan) => scan.id)}::bigint[],
                    ${scans.map((scan) => scan.type)}::text[],
                    ${sparseColumn(scans.map(({ refusal }) => refusal?.reason))}::text[],
                    ${sparseColumn(scans.map(({ refusal }) => refusal?.explanation))}::text[],
                    ${sparseColumn(scans.map((scan) => scan.rawCode))}::text[],
                    ${sparseColumn(scans.map(({ sourceType }) => (sourceType === "barcode" ? null : sourceType)))}::text[],
                    ${sparseColumn(scans.map((scan) => scan.rawItem))}::bigint[],
                    ${sparseColumn(scans.map((scan) => scan.rawVariation))}::bigint[],
                    ${sparseColumn(scans.map((scan) => scan.rawSubevent))}::bigint[],
                    ${scans.map((scan) => toTimestamp(scan.at))}::timestamptz[],
                    ${sparseColumn(scans.map((scan) => scan.nonce))}::text[],
                    ${sparseColumn(scans.map((scan) => scan.deviceId))}::bigint[],
                    ${sparseColumn(scans.map((scan) => scan.gate))}::bigint[],
                    ${sparseColumn(scans.map((scan) => scan.forced || null))}::boolean[],
                    ${sparseColumn(scans.map((scan) => scan.forceSent || null))}::boolean[],
                    ${sparseColumn(scans.map((scan) => scan.overruled))}::text[],
                    ${sparseColumn(scans.map((scan) => scan.isOutOfOrder || null))}::boolean[],
                    ${sparseColumn(scans.map((scan) => scan.isAutomatic || null))}::boolean[])
             with ordinality
             as sent (place, position, version, entries, last_type, last_at, entered, inside, id, type, reason, explanation,
                      raw_code, source_type, raw_item, raw_variation, raw_subevent, at, nonce, device_id, gate, forced,
                      force_sent, overruled, is_out_of_order, is_automatic, ord)
        join held_list on held_list.place = sent.place
    ), ${isLimited ? countedLists : sql``}held_ticket as (
      select decided.ord, decided.place, decided.organizer, decided.event, decided.position, decided.list, decided.version,
             decided.entries, decided.last_type, decided.last_at, decided.entered, decided.inside, decided.overruled,
             coalesce(position.subevent, 0) as subevent, position.item, coalesce(position.variation, 0) as variation,
             position.counted_as
        from decided
        join position
          on position.organizer = decided.organizer and position.event = decided.event and position.id = decided.position
       where decided.version is not null
         and ${asRead === undefined ? sql`true` : covers(asRead)}
         ${isLimited ? sql`and (select count(*) from counted_list) >= 0` : sql``}
         for share of position skip locked
    ${isLimited ? withinLimits : sql``}    ), admitted as (
      insert into presence as held (organizer, event, position, list, version, entries, last_type, last_at)
      select held_ticket.organizer, held_ticket.event, held_ticket.position, held_ticket.list, held_ticket.version,
             held_ticket.entries, held_ticket.last_type, held_ticket.last_at
        from held_ticket
       where case when held_ticket.version > 1
                  then held_ticket.version - 1
                       = (select seen.version
                            from presence as seen
                           where seen.organizer = held_ticket.organizer and seen.event = held_ticket.event
                             and seen.position = held_ticket.position and seen.list = held_ticket.list)
                  else true
              end
         ${isLimited ? sql`and held_ticket.ord = any(array(select within_limit.ord from within_limit))` : sql``}
       order by held_ticket.position, held_ticket.list, held_ticket.event, held_ticket.organizer
          on conflict (position, list, event, organizer) do update
             set version = excluded.version, entries = excluded.entries,
                 last_type = excluded.last_type, last_at = excluded.last_at
           where held.version = excluded.version - 1
      returning held.organizer, held.event, held.position, held.list
    ), kept as materialized (
      select decided.ord
        from decided
       where case when decided.version is null
                  then decided.position is null or ${isThere}
                  else (decided.position, decided.list, decided.event, decided.organizer)
                       in (select admitted.position, admitted.list, admitted.event, admitted.organizer from admitted)
              end
    ), stored as (
      insert into scan (organizer, event, id, list, position, type, successful, reason, explanation, raw_code, source_type,
                        raw_item, raw_variation, raw_subevent, at, nonce, device_id, gate, forced, force_sent,
                        overruled, out_of_order, auto_checked_in)
      select decided.organizer, decided.event, decided.id, decided.list, decided.position, decided.type,
             decided.version is not null, decided.reason, decided.explanation, decided.raw_code, decided.source_type,
             decided.raw_item, decided.raw_variation, decided.raw_subevent, decided.at, decided.nonce, decided.device_id,
             decided.gate, decided.forced, decided.force_sent, decided.overruled, decided.is_out_of_order,
             decided.is_automatic
        from decided
       where ${isKept(sql`decided.ord`)}
    ), counted as (
      insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
      select held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
             held_ticket.variation, held_ticket.counted_as, 0, sum(held_ticket.entered), sum(held_ticket.inside)
        from held_ticket
       where held_ticket.counted_as is not null
         and ${isKept(sql`held_ticket.ord`)}
       group by held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
                held_ticket.variation, held_ticket.counted_as
      having sum(held_ticket.entered) <> 0 or sum(held_ticket.inside) <> 0
    ), published as (
      ${outboxRows(
        topic,
        scans.map(({ fact }) => fact),
        { among: sql`where ${isKept(sql`fact.ord`)}` },
      )}
    )
    select kept.ord
      from kept`);
  return new Set(rows.map((row) => row.ord - 1));
}

/**
 * Counts are locked before tickets and presences, all in one order: a statement that holds a ticket waits for nothing. Counts that
 * are not complete yet are locked, too, because triggers change them: one for changed presences, then one for new ones.
 */
const countedLists = sql`counted_list as materialized (
      select held_list.place, held.persons, case when held.is_counted then list.hard_limit end as hard_limit
        from held_list
        join list on list.organizer = held_list.organizer and list.event = held_list.event and list.id = held_list.list
        join persons_inside as held
          on held.organizer = held_list.organizer and held.event = held_list.event and held.list = held_list.list
       order by held.organizer, held.event, held.list
         for no key update of held
    ), `;

/** Admissions of locked tickets that their lists have room for, in the order of the scans: a locked ticket does not use up the limit. */
const withinLimits = sql`), within_limit as (
      select entering.ord
        from (select held_ticket.ord, held_ticket.place, held_ticket.inside, held_ticket.overruled,
                     sum(greatest(held_ticket.inside, 0)) over (partition by held_ticket.place order by held_ticket.ord) as added
                from held_ticket) as entering
        left join counted_list on counted_list.place = entering.place
       where counted_list.hard_limit is null
          or coalesce(entering.inside, 0) <= 0
          or entering.overruled is not null
          or counted_list.persons + entering.added <= counted_list.hard_limit
    `;

/** The time of the ticket's newest scan, if it is not this scan. */
function olderLast({ at, admission }: ScanToStore): string | null {
  const last = admission?.presence.last;
  return last === null || last === undefined || last.at === at ? null : toTimestamp(last.at);
}

/**
 * Locks all lists of scans against deletion.
 *
 * Locks none if the ids are ahead of the sequence: the database crashed or failed over before the ids were flushed. The
 * scans are then decided again and get new ids; otherwise later scans of their tickets would get smaller ids.
 */
function lockLists(places: readonly ListPlace[], newestId: number): Sql {
  return sql`
      select wanted.ord as place, list.organizer, list.event, list.id as list, ${attendeesAreErased(sql`list`)} as is_erased
        from ${rowsAs("wanted", placeColumns, places, { isNumbered: true })}
        join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.list
       where ${newestId}::bigint <= (select scan_id.last_value from scan_id)
         for key share of list skip locked`;
}

function lockAsRead(list: DueList): Sql {
  return sql`
      select 1::bigint as place, list.organizer, list.event, list.id as list, ${attendeesAreErased(sql`list`)} as is_erased
        from list
       where ${isUnchanged(list)}
         for share of list skip locked`;
}

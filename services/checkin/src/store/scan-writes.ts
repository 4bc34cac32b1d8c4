import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp, toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { Presence, ScanType } from "../domain/presence.ts";

/** A decided scan, ready to be stored. */
export interface ScanToStore {
  readonly id: number;
  readonly organizer: string;
  readonly event: string;
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  readonly at: number;
  /** Null: it is the ticket's own and told by nothing else. */
  readonly rawCode: string | null;
  /** What the code was read from. */
  readonly sourceType: string;
  readonly nonce: string | null;
  readonly deviceId: number | null;
  readonly gate: number | null;
  readonly forced: boolean;
  readonly forceSent: boolean;
  /** Null: the scan is refused. */
  readonly admission: {
    /** The presence as the scan leaves it; it is stored only on top of the version before. */
    readonly presence: Presence;
    /** What it adds to the counts. */
    readonly entered: number;
    readonly inside: number;
  } | null;
  /** Null: the scan is admitted. */
  readonly refusal: { readonly reason: string; readonly explanation: string | null } | null;
  /** The fact that tells of it. */
  readonly fact: {
    readonly id: string;
    readonly key: string;
    readonly payload: Uint8Array;
    readonly traceparent: string | null;
  };
}

/**
 * Stores decided scans with presences, counts and facts, in one statement.
 *
 * Tells which were stored, by index. The others came too late: another scan of
 * the ticket was stored first, or the ticket or the list is just being changed;
 * they are to be decided again. Of each ticket and list there may be one admission.
 *
 * A refusal of a ticket that is gone is not kept. It does not hold the ticket:
 * one that goes while the statement runs leaves a scan behind, which is removed
 * with the note of its going.
 *
 * The list is held so that it cannot be deleted under its scans; the ticket, so
 * that what it counts as cannot change before the scan is counted. Neither lock
 * is waited for: one busy ticket must not hold up the others. Presences are
 * taken in one order everywhere, so those who wait for them never wait in a circle.
 */
export async function storeScans(
  db: Queryable,
  { topic, scans }: { topic: string; scans: readonly ScanToStore[] },
): Promise<Set<number>> {
  const lists = [...new Map(scans.map((scan) => [`${scan.organizer}/${scan.event}/${scan.list}`, scan])).values()];
  const admissions = scans.map(({ admission }) => admission);
  // By a range, and not `exists`: a plan that was made while the table was new would read all of it for every batch.
  const isThere = sql`coalesce(
    (select true
       from position
      where (position.organizer, position.event, position.id) >= (decided.organizer, decided.event, decided.position)
        and (position.organizer, position.event, position.id) <= (decided.organizer, decided.event, decided.position)
      order by position.organizer, position.event, position.id
      limit 1), false)`;
  const rows = await db.many<{ ord: number }>(sql`
    with decided as (
      select decided.organizer, decided.event, decided.list, decided.position, decided.version, decided.entries,
             decided.last_type, decided.last_at, decided.entered, decided.inside, decided.ord
        from unnest(${scans.map((scan) => scan.organizer)}::text[],
                    ${scans.map((scan) => scan.event)}::text[],
                    ${scans.map((scan) => scan.list)}::bigint[],
                    ${scans.map((scan) => scan.position)}::bigint[],
                    ${admissions.map((admission) => admission?.presence.version ?? null)}::bigint[],
                    ${admissions.map((admission) => admission?.presence.entries ?? null)}::bigint[],
                    ${admissions.map((admission) => admission?.presence.last?.type ?? null)}::text[],
                    ${admissions.map((admission) => toNullableTimestamp(admission?.presence.last?.at))}::timestamptz[],
                    ${admissions.map((admission) => admission?.entered ?? null)}::bigint[],
                    ${admissions.map((admission) => admission?.inside ?? null)}::bigint[])
             with ordinality
             as decided (organizer, event, list, position, version, entries, last_type, last_at, entered, inside, ord)
    ), held_list as (
      select list.organizer, list.event, list.id
        from unnest(${lists.map((scan) => scan.organizer)}::text[],
                    ${lists.map((scan) => scan.event)}::text[],
                    ${lists.map((scan) => scan.list)}::bigint[]) as wanted (organizer, event, id)
        join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.id
         for key share of list skip locked
    ), held_ticket as (
      select decided.ord, decided.organizer, decided.event, decided.position, decided.list, decided.version,
             decided.entries, decided.last_type, decided.last_at, decided.entered, decided.inside,
             coalesce(position.subevent, 0) as subevent, position.item, coalesce(position.variation, 0) as variation,
             position.counted_as
        from decided
        join held_list
          on held_list.organizer = decided.organizer and held_list.event = decided.event and held_list.id = decided.list
        join position
          on position.organizer = decided.organizer and position.event = decided.event and position.id = decided.position
       where decided.version is not null
         for share of position skip locked
    ), admitted as (
      insert into presence as held (organizer, event, position, list, version, entries, last_type, last_at)
      select held_ticket.organizer, held_ticket.event, held_ticket.position, held_ticket.list, held_ticket.version,
             held_ticket.entries, held_ticket.last_type, held_ticket.last_at
        from held_ticket
        left join presence as seen
          on seen.organizer = held_ticket.organizer and seen.event = held_ticket.event
             and seen.position = held_ticket.position and seen.list = held_ticket.list
       where coalesce(seen.version, 0) = held_ticket.version - 1
       order by held_ticket.position, held_ticket.list, held_ticket.event, held_ticket.organizer
          on conflict (position, list, event, organizer) do update
             set version = excluded.version, entries = excluded.entries,
                 last_type = excluded.last_type, last_at = excluded.last_at
           where held.version = excluded.version - 1
      returning held.organizer, held.event, held.position, held.list
    ), kept as (
      select decided.ord, decided.organizer, decided.event, decided.list, decided.position, decided.version
        from decided
       where case when decided.version is null
                  then (decided.organizer, decided.event, decided.list)
                       in (select held_list.organizer, held_list.event, held_list.id from held_list)
                       and (decided.position is null or ${isThere})
                  else (decided.organizer, decided.event, decided.position, decided.list)
                       in (select admitted.organizer, admitted.event, admitted.position, admitted.list from admitted)
              end
    ), stored as (
      insert into scan (organizer, event, id, list, position, type, successful, reason, explanation, raw_code, source_type,
                        at, nonce, device_id, gate, forced, force_sent, auto_checked_in)
      select kept.organizer, kept.event, sent.id, kept.list, kept.position, sent.type, kept.version is not null, sent.reason,
             sent.explanation, sent.raw_code, sent.source_type, sent.at, sent.nonce, sent.device_id, sent.gate, sent.forced,
             sent.force_sent, false
        from kept
        join unnest(${scans.map((scan) => scan.id)}::bigint[],
                    ${scans.map((scan) => scan.type)}::text[],
                    ${scans.map(({ refusal }) => refusal?.reason ?? null)}::text[],
                    ${scans.map(({ refusal }) => refusal?.explanation ?? null)}::text[],
                    ${scans.map((scan) => scan.rawCode)}::text[],
                    ${scans.map((scan) => scan.sourceType)}::text[],
                    ${scans.map((scan) => toTimestamp(scan.at))}::timestamptz[],
                    ${scans.map((scan) => scan.nonce)}::text[],
                    ${scans.map((scan) => scan.deviceId)}::bigint[],
                    ${scans.map((scan) => scan.gate)}::bigint[],
                    ${scans.map((scan) => scan.forced)}::boolean[],
                    ${scans.map((scan) => scan.forceSent)}::boolean[])
             with ordinality
             as sent (id, type, reason, explanation, raw_code, source_type, at, nonce, device_id, gate, forced, force_sent, ord)
          on sent.ord = kept.ord
    ), counted as (
      insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
      select held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
             held_ticket.variation, held_ticket.counted_as, 0, sum(held_ticket.entered), sum(held_ticket.inside)
        from kept
        join held_ticket on held_ticket.ord = kept.ord
       where held_ticket.counted_as is not null
       group by held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
                held_ticket.variation, held_ticket.counted_as
      having sum(held_ticket.entered) <> 0 or sum(held_ticket.inside) <> 0
    ), told as (
      insert into outbox (fact_id, topic, key, payload, traceparent)
      select fact.id, ${topic}, fact.key, fact.payload, fact.traceparent
        from kept
        join unnest(${scans.map((scan) => scan.fact.id)}::uuid[],
                    ${scans.map((scan) => scan.fact.key)}::text[],
                    ${toByteaArray(scans.map((scan) => scan.fact.payload))}::bytea[],
                    ${scans.map((scan) => scan.fact.traceparent)}::text[])
             with ordinality as fact (id, key, payload, traceparent, ord)
          on fact.ord = kept.ord
       order by fact.ord
    )
    select kept.ord
      from kept`);
  return new Set(rows.map((row) => row.ord - 1));
}

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
  readonly rawCode: string;
  readonly nonce: string | null;
  readonly deviceId: number | null;
  readonly gate: number | null;
  readonly forced: boolean;
  readonly forceSent: boolean;
  readonly decision: AdmissionToStore | RefusalToStore;
  /** The fact that tells of it. */
  readonly fact: { readonly key: string; readonly payload: Uint8Array };
}

export interface AdmissionToStore {
  readonly successful: true;
  /** The presence as the scan leaves it; it is stored only on top of the version before. */
  readonly presence: Presence;
  /** What it adds to the counts. */
  readonly entered: number;
  readonly inside: number;
}

export interface RefusalToStore {
  readonly successful: false;
  readonly reason: string;
  readonly explanation: string | null;
}

/**
 * Stores decided scans with presences, counts and facts, in one statement.
 *
 * Tells which were stored, by index. The others came too late: another scan of
 * the ticket was stored first, or the ticket or the list is just being changed;
 * they are to be decided again. Of each ticket and list there may be one admission.
 *
 * The list is held so that it cannot be deleted under its scans; the ticket, so
 * that what it counts as cannot change before the scan is counted. Neither lock
 * is waited for: one busy ticket must not hold up the others. Presences are
 * taken in one order everywhere, so those who wait for them never wait in a circle.
 */
export async function storeScans(
  db: Queryable,
  { topic, traceparent, scans }: { topic: string; traceparent: string | null; scans: readonly ScanToStore[] },
): Promise<Set<number>> {
  const lists = [...new Map(scans.map((scan) => [`${scan.organizer}/${scan.event}/${scan.list}`, scan])).values()];
  const admissions = scans.map(({ decision }) => (decision.successful ? decision : null));
  const refusals = scans.map(({ decision }) => (decision.successful ? null : decision));
  const rows = await db.many<{ ord: number }>(sql`
    with decided as (
      select decided.*
        from unnest(${scans.map((scan) => scan.id)}::bigint[],
                    ${scans.map((scan) => scan.organizer)}::text[],
                    ${scans.map((scan) => scan.event)}::text[],
                    ${scans.map((scan) => scan.list)}::bigint[],
                    ${scans.map((scan) => scan.position)}::bigint[],
                    ${scans.map((scan) => scan.type)}::text[],
                    ${refusals.map((refusal) => refusal?.reason ?? null)}::text[],
                    ${refusals.map((refusal) => refusal?.explanation ?? null)}::text[],
                    ${scans.map((scan) => scan.rawCode)}::text[],
                    ${scans.map((scan) => toTimestamp(scan.at))}::timestamptz[],
                    ${scans.map((scan) => scan.nonce)}::text[],
                    ${scans.map((scan) => scan.deviceId)}::bigint[],
                    ${scans.map((scan) => scan.gate)}::bigint[],
                    ${scans.map((scan) => scan.forced)}::boolean[],
                    ${scans.map((scan) => scan.forceSent)}::boolean[],
                    ${admissions.map((admission) => admission?.presence.version ?? null)}::bigint[],
                    ${admissions.map((admission) => admission?.presence.entries ?? null)}::bigint[],
                    ${admissions.map((admission) => admission?.presence.last?.type ?? null)}::text[],
                    ${admissions.map((admission) => toNullableTimestamp(admission?.presence.last?.at))}::timestamptz[],
                    ${admissions.map((admission) => admission?.entered ?? null)}::bigint[],
                    ${admissions.map((admission) => admission?.inside ?? null)}::bigint[],
                    ${scans.map((scan) => scan.fact.key)}::text[],
                    ${scans.map((scan) => Buffer.from(scan.fact.payload))}::bytea[])
             with ordinality
             as decided (id, organizer, event, list, position, type, reason, explanation, raw_code, at, nonce, device_id, gate,
                         forced, force_sent, version, entries, last_type, last_at, entered, inside, fact_key, fact, ord)
    ), held_list as (
      select list.organizer, list.event, list.id
        from unnest(${lists.map((scan) => scan.organizer)}::text[],
                    ${lists.map((scan) => scan.event)}::text[],
                    ${lists.map((scan) => scan.list)}::bigint[]) as wanted (organizer, event, id)
        join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.id
         for key share of list skip locked
    ), held_position as (
      select position.organizer, position.event, position.id, position.subevent, position.item, position.variation,
             position.counted_as
        from (select distinct decided.organizer, decided.event, decided.position
                from decided
               where decided.version is not null) as wanted
        join position
          on position.organizer = wanted.organizer and position.event = wanted.event and position.id = wanted.position
         for share of position skip locked
    ), admitted as (
      insert into presence as held (organizer, event, position, list, version, entries, last_type, last_at)
      select decided.organizer, decided.event, decided.position, decided.list, decided.version, decided.entries,
             decided.last_type, decided.last_at
        from decided
        join held_list
          on held_list.organizer = decided.organizer and held_list.event = decided.event and held_list.id = decided.list
        join held_position
          on held_position.organizer = decided.organizer and held_position.event = decided.event
             and held_position.id = decided.position
        left join presence as seen
          on seen.organizer = decided.organizer and seen.event = decided.event
             and seen.position = decided.position and seen.list = decided.list
       where coalesce(seen.version, 0) = decided.version - 1
       order by decided.organizer, decided.event, decided.position, decided.list
          on conflict (organizer, event, position, list) do update
             set version = excluded.version, entries = excluded.entries,
                 last_type = excluded.last_type, last_at = excluded.last_at
           where held.version = excluded.version - 1
      returning held.organizer, held.event, held.position, held.list
    ), kept as (
      select decided.*
        from decided
        left join admitted
          on admitted.organizer = decided.organizer and admitted.event = decided.event
             and admitted.position = decided.position and admitted.list = decided.list
       where case when decided.version is null
                  then exists (select from held_list
                                where held_list.organizer = decided.organizer and held_list.event = decided.event
                                  and held_list.id = decided.list)
                  else admitted.position is not null
              end
    ), stored as (
      insert into scan (organizer, event, id, list, position, type, successful, reason, explanation, raw_code, at, nonce,
                        device_id, gate, forced, force_sent, auto_checked_in)
      select kept.organizer, kept.event, kept.id, kept.list, kept.position, kept.type, kept.version is not null,
             kept.reason, kept.explanation, kept.raw_code, kept.at, kept.nonce, kept.device_id, kept.gate, kept.forced,
             kept.force_sent, false
        from kept
    ), counted as (
      insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
      select kept.organizer, kept.event, kept.list, coalesce(held_position.subevent, 0), held_position.item,
             coalesce(held_position.variation, 0), held_position.counted_as, 0, sum(kept.entered), sum(kept.inside)
        from kept
        join held_position
          on held_position.organizer = kept.organizer and held_position.event = kept.event
             and held_position.id = kept.position
       where kept.version is not null
         and held_position.counted_as is not null
       group by kept.organizer, kept.event, kept.list, held_position.subevent, held_position.item,
                held_position.variation, held_position.counted_as
      having sum(kept.entered) <> 0 or sum(kept.inside) <> 0
    ), told as (
      insert into outbox (topic, key, payload, traceparent)
      select ${topic}, kept.fact_key, kept.fact, ${traceparent}
        from kept
       order by kept.ord
    )
    select kept.ord
      from kept`);
  return new Set(rows.map((row) => row.ord - 1));
}

import type { Db } from "../pg/database.ts";
import { toNullableTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import { consumerName } from "./accept-facts.ts";
import { outgoing } from "./dead-letter.ts";

// What operators read of a service's facts, and request of its processes. The command runs these from outside, so that
// only kit names its tables.

/** A fact that a consumer could not accept, without its content. */
export interface DeadLetter {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  readonly writtenAt: number;
  readonly deadLetteredAt: number;
  readonly tries: number;
  /** The bus refused it; otherwise its consumer did. */
  readonly isOutgoing: boolean;
  /** A later fact of its key was accepted. */
  readonly isSuperseded: boolean;
  readonly isReplayRequested: boolean;
  readonly cause: string;
}

/** Selects dead letters: of a topic, of these ids, or all. */
interface Which {
  readonly topic?: string | undefined;
  readonly ids?: readonly number[] | undefined;
}

const isAmong = ({ topic, ids }: Which) => sql`
  (${topic ?? null}::text is null or dead_letter.topic = ${topic})
  and (${ids ?? null}::bigint[] is null or dead_letter.id = any(${ids}::bigint[]))`;

const columnsOfLetter = sql`
  dead_letter.id, dead_letter.topic, dead_letter.key, dead_letter.fact_at as "writtenAt",
  dead_letter.parked_at as "deadLetteredAt", dead_letter.tries, dead_letter.overtaken as "isSuperseded",
  dead_letter.consumer = ${outgoing} as "isOutgoing",
  dead_letter.replay_requested_at is not null as "isReplayRequested", dead_letter.cause`;

/** Finds dead letters, the oldest ones up to `limit`, and counts all of them. */
export async function findDeadLetters(
  db: Db,
  { topic, ids, limit = null }: Which & { limit?: number | null },
): Promise<{ readonly count: number; readonly letters: readonly DeadLetter[] }> {
  const letters = await db.many<DeadLetter & { count: number }>(sql`
    select ${columnsOfLetter}, count(*) over () as count
      from dead_letter
     where ${isAmong({ topic, ids })}
     order by dead_letter.id
     limit ${limit}`);
  return { count: letters[0]?.count ?? 0, letters };
}

/** Requests the replay of dead letters; returns their ids. One without its payload would be a tombstone. */
export async function requestReplays(db: Db, which: Which): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    update dead_letter
       set replay_requested_at = now()
     where ${isAmong(which)}
       and not dead_letter.is_emptied
    returning dead_letter.id`);
  return rows.map(({ id }) => id);
}

/** Deletes dead letters that nothing may apply or publish any more; returns them. */
export async function discardDeadLetters(db: Db, ids: readonly number[]): Promise<DeadLetter[]> {
  return db.many<DeadLetter>(sql`
    delete from dead_letter
     where ${isAmong({ ids })}
    returning ${columnsOfLetter}`);
}

/** The number of dead letters of a topic in one direction. */
export interface DeadLetterCount extends Pick<DeadLetter, "topic" | "isOutgoing"> {
  readonly count: number;
  readonly replaysRequested: number;
}

/** Counts the dead letters of a service by topic and direction, up to `atMost` in total. */
export async function countDeadLetters(
  db: Db,
  { group, atMost }: { group: string; atMost: number },
): Promise<DeadLetterCount[]> {
  return db.many(sql`
    select letter.topic, letter.consumer = ${outgoing} as "isOutgoing", count(*) as count,
           count(*) filter (where letter.replay_requested_at is not null) as "replaysRequested"
      from (select dead_letter.consumer, dead_letter.topic, dead_letter.replay_requested_at
              from dead_letter
             where dead_letter.consumer in (${group} || ' ' || dead_letter.topic, ${outgoing})
             limit ${atMost}) as letter
     group by letter.topic, letter.consumer
     order by letter.topic, letter.consumer`);
}

/** Requests a rebuild of a topic from its owner; returns the rebuild's id. */
export async function requestRebuild(owner: Db, topic: string): Promise<string> {
  const { id } = await owner.one<{ id: string }>(
    sql`insert into rebuild (topic) values (${topic}) returning rebuild.id`,
  );
  return id;
}

/** The state of a rebuild at the topic's owner. */
export interface RebuildState {
  readonly begunAt: number | null;
  readonly written: number;
  readonly expected: number | null;
  readonly partitions: number | null;
  readonly isFinished: boolean;
  readonly cause: string | null;
}

export async function readRebuild(owner: Db, id: string): Promise<RebuildState> {
  return owner.one<RebuildState>(sql`
    select rebuild.begun_at as "begunAt", rebuild.written, rebuild.expected, rebuild.partitions,
           rebuild.finished_at is not null as "isFinished", rebuild.cause
      from rebuild
     where rebuild.id = ${id}`);
}

export interface RebuildArrival {
  /** Partitions that the consumer has read to their markers. */
  readonly passed: number;
  /** Partitions whose marker is a dead letter. */
  readonly refused: number;
  /** Current dead letters since the rebuild began. */
  readonly deadLetters: number;
}

export async function readRebuildArrival(
  reader: Db,
  rebuild: { service: string; topic: string; id: string; begunAt: number | null },
): Promise<RebuildArrival> {
  const { id, begunAt } = rebuild;
  const consumer = consumerName(rebuild.service, rebuild.topic);
  return reader.one<RebuildArrival>(sql`
    select (select count(*)
              from passed_marker
             where passed_marker.consumer = ${consumer}
               and passed_marker.marker = ${id}) as passed,
           (select count(*)
              from dead_letter
             where dead_letter.consumer = ${consumer}
               and dead_letter.headers ->> 'marker' = ${id}::text) as refused,
           (select count(*)
              from dead_letter
             where dead_letter.consumer = ${consumer}
               and dead_letter.fact_at >= ${toNullableTimestamp(begunAt)}::timestamptz
               and not dead_letter.overtaken) as "deadLetters"`);
}

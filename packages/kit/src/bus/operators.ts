import type { Db } from "../pg/database.ts";
import { toNullableTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import { consumerName } from "./consume.ts";

// What operators see of a service's facts, and ask of its processes. The command runs these from outside; kit's tables
// are named nowhere else.

/** A fact that a consumer could not act on, without what is in it. */
export interface DeadLetter {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  readonly writtenAt: number;
  readonly deadLetteredAt: number;
  readonly tries: number;
  /** A later fact of its key was accepted. */
  readonly isSuperseded: boolean;
  readonly isReplayRequested: boolean;
  readonly cause: string;
}

const columns = sql`
  dead_letter.id, dead_letter.topic, dead_letter.key, dead_letter.fact_at as "writtenAt",
  dead_letter.parked_at as "deadLetteredAt", dead_letter.tries, dead_letter.overtaken as "isSuperseded",
  dead_letter.replay_requested_at is not null as "isReplayRequested", dead_letter.cause`;

/** The oldest dead letters of a topic, or of all, and how many there are. */
export async function listDeadLetters(
  db: Db,
  { topic = null, limit }: { topic?: string | null; limit: number },
): Promise<{ readonly count: number; readonly letters: readonly DeadLetter[] }> {
  const ofTopic = sql`${topic}::text is null or dead_letter.topic = ${topic}`;
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from dead_letter where ${ofTopic}`);
  const letters =
    count === 0
      ? []
      : await db.many<DeadLetter>(sql`
          select ${columns}
            from dead_letter
           where ${ofTopic}
           order by dead_letter.id
           limit ${limit}`);
  return { count, letters };
}

/** Reads dead letters by their ids, those that are still there. */
export async function readDeadLetters(db: Db, ids: readonly number[]): Promise<DeadLetter[]> {
  return db.many<DeadLetter>(sql`
    select ${columns}
      from dead_letter
     where dead_letter.id = any(${ids}::bigint[])
     order by dead_letter.id`);
}

/** Requests the replay of dead letters: of a topic, of these ids, or of all; returns which. */
export async function requestReplays(
  db: Db,
  { topic = null, ids = null }: { topic?: string | null; ids?: readonly number[] | null },
): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    update dead_letter
       set replay_requested_at = now()
     where (${topic}::text is null or dead_letter.topic = ${topic})
       and (${ids}::bigint[] is null or dead_letter.id = any(${ids}::bigint[]))
    returning dead_letter.id`);
  return rows.map(({ id }) => id);
}

/** Counts dead letters by topic, looking at no more than a certain number of them. */
export async function countDeadLetters(
  db: Db,
  { atMost }: { atMost: number },
): Promise<{ topic: string; count: number; replaysRequested: number }[]> {
  return db.many(sql`
    select letter.topic, count(*) as count,
           count(*) filter (where letter.replay_requested_at is not null) as "replaysRequested"
      from (select dead_letter.topic, dead_letter.replay_requested_at
              from dead_letter
             limit ${atMost}) as letter
     group by letter.topic
     order by letter.topic`);
}

/** How many facts wait in the outbox, counted up to a certain number, and for how many seconds the oldest does. */
export async function readOutbox(
  db: Db,
  { atMost }: { atMost: number },
): Promise<{ waiting: number; seconds: number }> {
  return db.one(sql`
    select (select count(*) from (select from outbox limit ${atMost}) as counted) as waiting,
           coalesce((select extract(epoch from clock_timestamp() - outbox.created_at)
                       from outbox
                      order by outbox.id
                      limit 1), 0)::integer as seconds`);
}

/** How many facts a service's consumers have accepted, as long as it remembers them. */
export async function countAcceptedFacts(db: Db): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from inbox`);
  return count;
}

/** Requests that the owner of a topic publishes again what it holds; returns the rebuild's id. */
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
  /** Why it was given up. */
  readonly cause: string | null;
}

/** Reads the state of a rebuild. */
export async function readRebuild(owner: Db, id: string): Promise<RebuildState> {
  return owner.one<RebuildState>(sql`
    select rebuild.begun_at as "begunAt", rebuild.written, rebuild.expected, rebuild.partitions,
           rebuild.finished_at is not null as "isFinished", rebuild.cause
      from rebuild
     where rebuild.id = ${id}`);
}

/** The state of a rebuild at a consumer of the topic. */
export interface RebuildArrival {
  /** Partitions that the consumer has read to their markers. */
  readonly passed: number;
  /** Partitions whose marker is a dead letter. */
  readonly refused: number;
  /** Current dead letters since the rebuild began. */
  readonly deadLetters: number;
}

/** Reads how much of a rebuild has arrived at a service. */
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

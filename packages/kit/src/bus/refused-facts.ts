import { Fault } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Queryable } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import { describeCause } from "../telemetry/describe-cause.ts";
import type { Message } from "./bus.ts";
import { deleteDeadLetters, type IsErased, outgoing, storeDeadLetters } from "./dead-letter.ts";
import { header, isMarker } from "./headers.ts";
import { deleteRows, laneOf, type OutboxRow } from "./outbox-rows.ts";

// Facts that the bus refuses for good are dead letters of the outbox. The relay stores, replays and deletes them.

const permanent: ReadonlySet<string> = new Set(["message_too_large", "message_refused", "facts_parked"]);

/** Whether the bus will refuse the same messages again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Fault && permanent.has(error.code);
}

/** Moves a row from the outbox to the dead letters. */
export async function deadLetterRow(
  db: Queryable,
  row: OutboxRow,
  { error, isErased }: { readonly error: unknown; readonly isErased: IsErased },
): Promise<void> {
  const { topic, message, factId, createdAt } = row;
  const delivery = { ...message, topic, partition: message.partition ?? 0 };
  const identity = { id: factId, at: createdAt };
  // First the letter: a crash between the two repeats both, and a letter is stored once.
  const letter = { message: delivery, identity, cause: describeCause(error), isSuperseded: false };
  await storeDeadLetters(db, outgoing, [letter], { isErased });
  await deleteRows(db, topic, [row]);
}

export async function findRefusedTopics(db: Queryable): Promise<string[]> {
  const rows = await db.many<{ topic: string }>(sql`
    select distinct dead_letter.topic
      from dead_letter
     where dead_letter.consumer = ${outgoing}`);
  return rows.map(({ topic }) => topic);
}

/** Deletes refused states that a later state of the same entity has replaced. */
export async function deleteReplaced(db: Queryable, topic: string, rows: readonly OutboxRow[]): Promise<void> {
  const keys = rows.filter(({ message }) => !isMarker(message)).map(({ message }) => message.key);
  await deleteDeadLetters(db, outgoing, keys, { topic });
}

export interface RefusedFact {
  readonly id: number;
  readonly topic: string;
  readonly lane: number;
  readonly message: Message;
}

/** Finds the oldest refused fact of each lane whose replay is requested. */
export async function findRequested(db: Queryable, lanes: number): Promise<RefusedFact[]> {
  const rows = await db.many<{
    readonly id: number;
    readonly topic: string;
    readonly lane: number;
    readonly key: string;
    readonly fact_id: string;
    readonly fact_at: number;
    readonly partition: number | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: Buffer | null;
  }>(sql`
    select distinct on (letter.topic, letter.lane)
           letter.id, letter.topic, letter.lane, letter.key, letter.fact_id, letter.fact_at, letter.partition,
           letter.headers, letter.payload
      from (select dead_letter.id, dead_letter.topic, ${laneOf(sql`target`, lanes)} as lane, dead_letter.key,
                   dead_letter.fact_id, dead_letter.fact_at, target.partition, dead_letter.headers, dead_letter.payload
              from dead_letter
             cross join lateral (
               select dead_letter.key,
                      case when dead_letter.headers ? ${header.marker} then dead_letter.partition end as partition) as target
             where dead_letter.consumer = ${outgoing}
               and dead_letter.replay_requested_at is not null) as letter
     order by letter.topic, letter.lane, letter.id`);
  return rows.map(({ id, topic, lane, key, payload, ...row }) => {
    const headers = { ...row.headers, [header.factId]: row.fact_id, [header.at]: String(row.fact_at) };
    const partition = lanes === 1 ? row.partition : lane;
    return {
      id,
      topic,
      lane,
      message: { key, value: payload, headers, ...(partition === null ? {} : { partition }) },
    };
  });
}

export async function deleteRefused(db: Queryable, id: number): Promise<void> {
  await db.run(sql`delete from dead_letter where dead_letter.id = ${id}`);
}

/** Keeps a refused fact whose replay was refused, with the new cause. */
export async function keepRefused(db: Queryable, id: number, error: unknown): Promise<void> {
  await db.run(sql`
    update dead_letter
       set cause = ${describeCause(error)},
           tries = dead_letter.tries + 1,
           tried_at = now(),
           replay_requested_at = null
     where dead_letter.id = ${id}`);
}

/** Whether consumers delete their older copies when they read this message: it ends a rebuild. */
export function endsRebuild({ headers }: Message): boolean {
  return headers[header.sweepBelow] !== undefined;
}

/** Refuses to end a rebuild while facts of it are refused: consumers would delete copies of existing entities. */
export async function requirePublished(db: Queryable, topic: string, { headers }: Message): Promise<void> {
  const { incomplete } = await db.one<{ incomplete: boolean }>(sql`
    select exists (
      select from dead_letter
       where dead_letter.consumer = ${outgoing}
         and dead_letter.topic = ${topic}
         and dead_letter.fact_at >= ${toTimestamp(Number(headers[header.sweepSince]))}::timestamptz
         and not dead_letter.headers ? ${header.marker}) as incomplete`);
  if (!incomplete) return;
  throw fault(
    "facts_parked",
    "the bus has refused facts of this rebuild: replay them together with this one, before copies are swept",
  );
}

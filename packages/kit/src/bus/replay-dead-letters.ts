import { isTimeout, isTransient } from "../fault.ts";
import type { Job } from "../jobs/interval.ts";
import type { Db, Tx } from "../pg/database.ts";
import { declareLock, tryLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import { describeCause } from "../telemetry/describe-cause.ts";
import type { Log } from "../telemetry/log.ts";
import { type Claimed, consumerName, Refused, type Replayed } from "./accept-facts.ts";
import type { OpenConsumer } from "./consume.ts";
import { outgoing } from "./dead-letter.ts";
import { header } from "./headers.ts";

const replayLock = declareLock("tessera replay");

/** How late a requested replay may begin. */
const everyMs = 1000;

interface Requested {
  readonly id: number;
  readonly consumer: string;
  readonly topic: string;
  readonly key: string;
  readonly fact_id: string;
}

/**
 * Replays dead letters of consumers on request, in the order of their ids. The relay replays those of the outbox.
 *
 * The transaction that acts on a dead letter deletes it, so it acts once, and a crash loses nothing. One process of a
 * service replays at a time, which keeps the order of each key. After a failure the dead letter stays, with the new
 * cause. After a transient failure its request stays too, and the later ones of its key wait behind it.
 */
export function replayDeadLetters(options: {
  db: Db;
  group: string;
  consumers: readonly OpenConsumer[];
  log: Log;
}): Job {
  const { db, group, log } = options;
  const consumers = new Map(options.consumers.map((consumer) => [consumerName(group, consumer.topic), consumer]));

  async function replay(row: Requested): Promise<Replayed | "not now" | "not alone"> {
    const consumer = consumers.get(row.consumer);
    if (consumer === undefined) {
      await refuseUnconsumed(db, row);
      return "not claimed";
    }
    const about = { topic: row.topic, factId: row.fact_id };
    try {
      let alone = true;
      const outcome = await consumer.replay(async (tx) => {
        alone = await tryLock(tx, replayLock(db.schema));
        return alone ? claim(tx, row.id) : undefined;
      });
      if (!alone) return "not alone";
      if (outcome !== "not claimed") log.info("parked fact replayed", { ...about, outcome });
      return outcome;
    } catch (error) {
      // A time limit is of the fact's own making: trying again would only hold up the other replays.
      if (isTransient(error) && !isTimeout(error)) {
        log.warn("a replay is waiting: its consumer cannot act now", { ...about, error });
        return "not now";
      }
      log.warn("a parked fact failed again", { ...about, error });
      await noteFailure(db, row, error);
      return "not claimed";
    }
  }

  return {
    name: "replay-dead-letters",
    everyMs,
    async run(signal) {
      const waiting = new Set<string>();
      for (let last = 0; !signal.aborted; ) {
        const row = await findNext(db, last);
        if (row === undefined) return;
        last = row.id;
        const keyed = `${row.consumer} ${row.key}`;
        if (waiting.has(keyed)) continue;
        const outcome = await replay(row);
        // The process with the lock replays all of them. Going on beside it would change the order.
        if (outcome === "not alone") return;
        if (outcome === "not now") waiting.add(keyed);
      }
    },
  };
}

async function findNext(db: Db, last: number): Promise<Requested | undefined> {
  return db.maybeOne<Requested>(sql`
    select dead_letter.id, dead_letter.consumer, dead_letter.topic, dead_letter.key, dead_letter.fact_id
      from dead_letter
     where dead_letter.replay_requested_at is not null
       and dead_letter.consumer <> ${outgoing}
       and dead_letter.id > ${last}
     order by dead_letter.id
     limit 1`);
}

interface Row {
  readonly topic: string;
  readonly key: string;
  readonly fact_id: string;
  readonly fact_at: number;
  readonly partition: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer | null;
  readonly overtaken: boolean;
}

/** Deletes a dead letter and returns it; undefined when its replay is not requested any more. */
async function claim(tx: Tx, id: number): Promise<Claimed | undefined> {
  const row = await tx.maybeOne<Row>(sql`
    delete from dead_letter
     where dead_letter.id = ${id}
       and dead_letter.replay_requested_at is not null
    returning dead_letter.topic, dead_letter.key, dead_letter.fact_id, dead_letter.fact_at, dead_letter.partition,
              dead_letter.headers, dead_letter.payload, dead_letter.overtaken`);
  if (row === undefined) return undefined;
  const { topic, partition, key, payload, overtaken: isSuperseded } = row;
  const headers = { ...row.headers, [header.factId]: row.fact_id, [header.at]: String(row.fact_at) };
  return { id, isSuperseded, message: { topic, partition, key, value: payload, headers } };
}

async function noteFailure(db: Db, { id }: Requested, error: unknown): Promise<void> {
  await db.run(sql`
    update dead_letter
       set cause = ${error instanceof Refused ? error.message : describeCause(error)},
           tries = dead_letter.tries + 1,
           tried_at = now(),
           replay_requested_at = null
     where dead_letter.id = ${id}
       and dead_letter.replay_requested_at is not null`);
}

/** Keeps the first cause: a later version of the service may consume the topic again. */
async function refuseUnconsumed(db: Db, { id }: Requested): Promise<void> {
  const remark = "not replayed, because this service does not consume the topic any more; parked for ";
  await db.run(sql`
    update dead_letter
       set cause = ${remark} || case when starts_with(dead_letter.cause, ${remark})
                                     then substr(dead_letter.cause, length(${remark}) + 1)
                                     else dead_letter.cause end,
           tries = dead_letter.tries + 1,
           tried_at = now(),
           replay_requested_at = null
     where dead_letter.id = ${id}`);
}

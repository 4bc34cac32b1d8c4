import { describeCause } from "../describe-cause.ts";
import { isTransient } from "../fault.ts";
import type { Job } from "../jobs/interval.ts";
import type { Log } from "../log.ts";
import type { Db, Tx } from "../pg/database.ts";
import { declareLock, tryLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import { type Claimed, consumerName, type OpenConsumer, Refused, type Replayed } from "./consume.ts";
import { header } from "./headers.ts";

const replayLock = declareLock("tessera replay");

/** How late a replay that was asked for may begin. */
const everyMs = 1000;

/** A row whose replay was asked for. */
interface AskedFor {
  readonly id: number;
  readonly consumer: string;
  readonly topic: string;
  readonly key: string;
  readonly fact_id: string;
}

/**
 * Acts on parked facts whose replay was asked for, in the order they were parked.
 *
 * Each is taken out of its place in the transaction that acts on it, so it acts once and nothing is lost at any point.
 * One process of a service replays at a time; otherwise facts of one key could change places. What fails stays, with
 * the new cause; what cannot act just now stays asked for, and the later ones of its key behind it.
 */
export function replayParked(options: { db: Db; group: string; consumers: readonly OpenConsumer[]; log: Log }): Job {
  const { db, group, log } = options;
  const consumers = new Map(options.consumers.map((consumer) => [consumerName(group, consumer.topic), consumer]));

  async function replay(row: AskedFor): Promise<Replayed | "not now" | "not alone"> {
    const consumer = consumers.get(row.consumer);
    if (consumer === undefined) {
      await refuseUnconsumed(db, row);
      return "not claimed";
    }
    try {
      let alone = true;
      const outcome = await consumer.replay(async (tx) => {
        alone = await tryLock(tx, replayLock(db.schema));
        return alone ? claim(tx, row.id) : undefined;
      });
      if (!alone) return "not alone";
      if (outcome !== "not claimed")
        log.info("parked fact replayed", { topic: row.topic, factId: row.fact_id, outcome });
      return outcome;
    } catch (error) {
      const about = { topic: row.topic, factId: row.fact_id, error };
      if (isTransient(error)) {
        log.warn("a replay is waiting: its consumer cannot act now", about);
        return "not now";
      }
      log.warn("a parked fact was replayed in vain", about);
      await noteFailure(db, row, error);
      return "not claimed";
    }
  }

  return {
    name: "replay-parked",
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
        // Whoever is at it goes on to the end; to overtake him would change the order.
        if (outcome === "not alone") return;
        if (outcome === "not now") waiting.add(keyed);
      }
    },
  };
}

async function findNext(db: Db, last: number): Promise<AskedFor | undefined> {
  return db.maybeOne<AskedFor>(sql`
    select dead_letter.id, dead_letter.consumer, dead_letter.topic, dead_letter.key, dead_letter.fact_id
      from dead_letter
     where dead_letter.replay_requested_at is not null
       and dead_letter.id > ${last}
     order by dead_letter.id
     limit 1`);
}

interface ParkedRow {
  readonly topic: string;
  readonly key: string;
  readonly fact_id: string;
  readonly fact_at: number;
  readonly partition: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer | null;
  readonly overtaken: boolean;
}

/** Takes a message out of its place; undefined where nobody asks for it any more. */
async function claim(tx: Tx, id: number): Promise<Claimed | undefined> {
  const row = await tx.maybeOne<ParkedRow>(sql`
    delete from dead_letter
     where dead_letter.id = ${id}
       and dead_letter.replay_requested_at is not null
    returning dead_letter.topic, dead_letter.key, dead_letter.fact_id, dead_letter.fact_at, dead_letter.partition,
              dead_letter.headers, dead_letter.payload, dead_letter.overtaken`);
  if (row === undefined) return undefined;
  const { topic, partition, key, payload, overtaken } = row;
  const headers = { ...row.headers, [header.factId]: row.fact_id, [header.at]: String(row.fact_at) };
  return { id, overtaken, message: { topic, partition, key, value: payload, headers } };
}

async function noteFailure(db: Db, { id }: AskedFor, error: unknown): Promise<void> {
  await db.run(sql`
    update dead_letter
       set cause = ${error instanceof Refused ? error.message : describeCause(error)},
           tries = dead_letter.tries + 1,
           tried_at = now(),
           replay_requested_at = null
     where dead_letter.id = ${id}
       and dead_letter.replay_requested_at is not null`);
}

/** The cause it was parked for is kept: the service may consume the topic again. */
async function refuseUnconsumed(db: Db, { id }: AskedFor): Promise<void> {
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

import { startLeader } from "../jobs/leader.ts";
import type { Db, Dedicated } from "../pg/database.ts";
import { declareLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import type { Log } from "../telemetry/log.ts";
import { createAlarm } from "../waiting/alarm.ts";
import { settledOr } from "../waiting/settled-or.ts";
import type { Bus } from "./bus.ts";
import type { IsErased } from "./dead-letter.ts";
import { idleMs } from "./idle-time.ts";
import { findWaitingTopics } from "./outbox-rows.ts";
import { findRefusedTopics } from "./refused-facts.ts";
import { RelayOutbox } from "./relay-outbox.ts";
import { Publications } from "./relay-publications.ts";
import { RelayReplays } from "./relay-replays.ts";

export interface Relay {
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly db: Db;
  /** Other connections of this process that write facts of the schema. */
  readonly writers?: readonly Pick<Db, "onOutbox">[];
  readonly bus: Bus;
  readonly log: Log;
  readonly isErased: IsErased;
  /** The topics of states: a later fact of a key replaces the earlier ones. */
  readonly states?: ReadonlySet<string>;
  readonly onBatch?: (facts: number) => void;
  readonly batchSize?: number;
  readonly batchBytes?: number;
}

const relayLock = declareLock("tessera relay");

/** Large enough to be worth a round trip to the bus and a transaction of a consumer. */
const defaultBatchSize = 500;

/** The transaction of a consumer grows with the size of its facts, too: one may stand for a thousand rows. */
const defaultBatchBytes = 1024 * 1024;

/** Other processes do not wake this relay. It may notice their rows this late, and those after a pause a little later. */
const pollMs = 50;
const pollAfterPauseMs = 250;

/** Without rows for this long the relay polls less often: most services of an installation write nothing for hours. */
const pauseMs = 2000;

/**
 * A publication costs about the same for any number of facts, and on some buses much. After a small one the relay waits
 * several times as long as it took, within bounds, and publishes the facts of that time together. A single fact does not wait.
 */
const linger = { times: 10, leastMs: 20, mostMs: 150 } as const;

/** A publication that takes longer no longer delays other topics. */
const patienceMs = 200;

/** Facts that the bus has not taken by then stay in the outbox. */
const longestStopMs = 5000;

/**
 * Moves facts from one schema's outbox to the bus.
 *
 * One relay per schema leads, and reads on the connection that holds its lock. The rows of each lane of a topic are
 * published in the order of their ids, one batch at a time. Transactions that write facts of one key hold the same row
 * lock, so the ids of a key are in commit order. A row may commit late with a small id. The relay still finds it, because
 * published rows are deleted and each read begins at the start of the topic; a cursor would skip it.
 *
 * A lane or topic that the bus does not take, or that has a stuck consumer, does not stop the others. After a failure the
 * next batch is half as large. A single fact that the bus refuses for good becomes a dead letter, and those behind it go
 * on.
 */
export function startRelay(options: RelayOptions): Relay {
  const { db, writers = [], bus, log, isErased, states = new Set(), onBatch = () => {} } = options;
  const { batchSize = defaultBatchSize, batchBytes = defaultBatchBytes } = options;
  const { schema } = db;
  const { lanes = 1 } = bus;
  // With lanes, a slow publication is the rule: the others are read for meanwhile.
  const waitMs = lanes === 1 ? patienceMs : linger.leastMs;
  const alarm = createAlarm();
  for (const writer of [db, ...writers]) writer.onOutbox(alarm.ring);
  const publications = new Publications({ schema, bus, log, alarm, batchSize, waitMs, onBatch });
  const outbox = new RelayOutbox({ schema, log, publications, lanes, isErased, states, batchSize, batchBytes });
  const replays = new RelayReplays({ log, publications, lanes });

  // With lanes a publication lasts until its consumers are done, which says nothing of its cost.
  const lingerMs = () =>
    lanes === 1
      ? Math.min(Math.max(linger.times * publications.tookMs, linger.leastMs), linger.mostMs)
      : linger.leastMs;

  async function lead(connection: Dedicated, signal: AbortSignal): Promise<void> {
    // A crash may undo a deletion. Then a fact is published twice, which its consumers notice: no need to wait for the disk.
    await connection.run(sql`set synchronous_commit = off`);
    // Its statements are planned once, perhaps for an empty outbox, and must read a full one by its index, too.
    await connection.run(sql`set enable_seqscan = off`);
    await connection.run(sql`set enable_bitmapscan = off`);
    publications.beginLead(connection, signal, await findRefusedTopics(connection));
    let foundAt = performance.now();
    while (!signal.aborted) {
      const looked = performance.now();
      await replays.publish(connection);
      let isMore = false;
      for (const topic of await findWaitingTopics(connection))
        if (await outbox.publish(connection, topic)) isMore = true;
      const tookMs = performance.now() - looked;
      const begun = publications.takeBegun();
      if (begun.length > 0 || isMore) foundAt = performance.now();
      if (begun.length > 0) await settledOr(waitMs, begun);
      if (begun.length > 0 && !isMore) await alarm.pause(Math.max(0, looked + lingerMs() - performance.now()));
      const restMs = performance.now() - foundAt < pauseMs ? pollMs : pollAfterPauseMs;
      if (!isMore) await alarm.pause(Math.max(restMs, idleMs(tookMs)), { lightly: true });
    }
    if (alarm.stopped) await publications.untilDone();
  }

  const leader = startLeader({ db, lock: relayLock(schema), log, lead });
  return {
    async stop() {
      alarm.stop();
      await settledOr(longestStopMs, [leader.stop()]);
    },
  };
}

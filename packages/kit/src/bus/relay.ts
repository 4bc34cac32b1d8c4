import { setImmediate as nextTurn } from "node:timers/promises";
import { createAlarm } from "../alarm.ts";
import { backoff } from "../backoff.ts";
import { startLeader } from "../jobs/leader.ts";
import type { Log } from "../log.ts";
import type { Db, Dedicated } from "../pg/database.ts";
import { declareLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import { settledOr } from "../settled-or.ts";
import type { Bus } from "./bus.ts";
import { header } from "./headers.ts";
import { idleMs } from "./idle-time.ts";
import { deleteRows, findWaitingTopics, type OutboxRow, readRows } from "./outbox-rows.ts";
import {
  deadLetterRow,
  deleteRefused,
  deleteReplaced,
  endsRebuild,
  findRefusedTopics,
  findRequested,
  isRefusal,
  keepRefused,
  type RefusedFact,
  requirePublished,
} from "./refused-facts.ts";
import { type Batch, nameOf, type Place } from "./relay-batch.ts";

export interface Relay {
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly db: Db;
  /** Other connections of this process that write facts of the schema. */
  readonly writers?: readonly Pick<Db, "onOutbox">[];
  readonly bus: Bus;
  readonly log: Log;
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

/** So long after the last rows the next ones come after a pause: most services of an installation write nothing for hours. */
const pauseMs = 2000;

/** Requested replays of refused facts wait this long. */
const replayMs = 1000;

/**
 * A publication costs about the same for any number of facts, and on some buses much. After a small one the relay waits
 * several times as long as it took, within bounds, and publishes the facts of that time together. A single fact does not wait.
 */
const gather = { times: 10, leastMs: 20, mostMs: 150 } as const;

/** A publication that takes longer no longer delays other topics. */
const patienceMs = 200;

const pauses = { firstMs: 200, longestMs: 5000 };

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
  const { db, writers = [], bus, log, states = new Set(), onBatch = () => {} } = options;
  const { batchSize = defaultBatchSize, batchBytes = defaultBatchBytes } = options;
  const { lanes = 1 } = bus;
  // With lanes, a slow publication is the rule: the others are read for meanwhile.
  const waitMs = lanes === 1 ? patienceMs : gather.leastMs;
  const alarm = createAlarm();
  for (const writer of [db, ...writers]) writer.onOutbox(alarm.ring);
  // A publication may go on after the connection, and with it the lead, is lost. So these outlive the lead.
  const held = new Map<string, Place>();
  /** Topics that were claimed since this lead began and since their last failed publication. */
  const claimed = new Set<string>();
  const underWay = new Set<Promise<void>>();
  /** Those that began with the last look at the outbox. */
  let begun: Promise<void>[] = [];
  /** By the connection of a lead: aborted when it is lost. */
  const leads = new WeakMap<Dedicated, AbortSignal>();
  const failures = new Map<string, number>();
  /** The number of rows of the next batch, by place; without it a whole batch. */
  const sizes = new Map<string, number>();
  /** Topics that may have refused facts. */
  let refusing = new Set<string>();
  /** When topics may be read around their busy lanes again. */
  const dueAt = new Map<string, number>();
  let replayAt = 0;
  /** How long the last publication took. */
  let publishedMs = 0;
  const deletions = new Map<string, { readonly rows: OutboxRow[]; readonly done: Promise<void> }>();

  // With lanes a publication lasts until its consumers are done, which says nothing of its cost.
  const gatherMs = () =>
    lanes === 1 ? Math.min(Math.max(gather.times * publishedMs, gather.leastMs), gather.mostMs) : gather.leastMs;

  const heldLanes = (topic: string) =>
    new Set([...held.values()].filter((place) => place.topic === topic).map(({ lane }) => lane));

  async function move(connection: Dedicated, batch: Batch): Promise<void> {
    const { topic } = batch;
    const place = nameOf(batch);
    const started = performance.now();
    try {
      if (bus.claim !== undefined && !claimed.has(topic)) {
        await bus.claim(topic);
        claimed.add(topic);
        // Another process may have published these rows before the claim: they are read again.
        alarm.ring();
        return;
      }
      const [first] = batch.messages;
      if (first !== undefined && endsRebuild(first) && refusing.has(topic))
        await requirePublished(connection, topic, first);
      const publishing = performance.now();
      await bus.publish(topic, batch.messages);
      publishedMs = performance.now() - publishing;
      await batch.done(connection);
      failures.delete(place);
      const size = sizes.get(place);
      if (size !== undefined && size * 2 < batchSize) sizes.set(place, size * 2);
      else sizes.delete(place);
      onBatch(batch.messages.length);
    } catch (error) {
      claimed.delete(topic);
      if (alarm.stopped) return;
      await recover(connection, batch, error);
    } finally {
      held.delete(place);
      if (performance.now() - started > waitMs) alarm.ring();
    }
  }

  /** Never rejects: a connection that is lost meanwhile ends the lead. */
  async function recover(connection: Dedicated, batch: Batch, error: unknown): Promise<void> {
    const place = nameOf(batch);
    const count = batch.messages.length;
    // The loss of a connection is told after its statements have failed.
    await nextTurn();
    // It says nothing about the place, and the next lead reads its rows again.
    if (leads.get(connection)?.aborted === true) return;
    try {
      if (isRefusal(error) && count === 1) {
        refusing.add(batch.topic);
        await batch.refused(connection, error);
        alarm.ring();
        return;
      }
      sizes.set(place, Math.max(1, Math.floor(count / 2)));
      if (isRefusal(error)) {
        alarm.ring();
        return;
      }
    } catch (failure) {
      log.warn("a refused fact is waiting: it could not be parked", { schema: db.schema, error: failure });
    }
    const failed = (failures.get(place) ?? 0) + 1;
    failures.set(place, failed);
    log.warn("facts are waiting: the relay could not move them", { schema: db.schema, topic: batch.topic, error });
    await alarm.pause(backoff(pauses, failed));
  }

  /** Publications of a topic that end at the same time are deleted by one statement. */
  function deleteTogether(connection: Dedicated, topic: string, rows: readonly OutboxRow[]): Promise<void> {
    let deletion = deletions.get(topic);
    if (deletion === undefined) {
      const all: OutboxRow[] = [];
      const run = async () => {
        await nextTurn();
        deletions.delete(topic);
        if (refusing.has(topic) && states.has(topic)) await deleteReplaced(connection, topic, all);
        await deleteRows(connection, topic, all);
      };
      deletion = { rows: all, done: run() };
      deletions.set(topic, deletion);
    }
    deletion.rows.push(...rows);
    return deletion.done;
  }

  /** Begins to publish rows of a topic; returns whether there may be more. */
  async function moveRows(connection: Dedicated, topic: string): Promise<boolean> {
    const without = heldLanes(topic);
    const looked = performance.now();
    if (without.size === lanes || (without.size > 0 && looked < (dueAt.get(topic) ?? 0))) return false;
    const { rows, isMore } = await readRows(connection, {
      topic,
      lanes,
      without,
      most: batchSize,
      mostBytes: batchBytes,
    });
    if (without.size > 0) dueAt.set(topic, performance.now() + idleMs(performance.now() - looked));
    let isCut = false;
    for (const [lane, ofLane] of Map.groupBy(rows, (row) => row.lane)) {
      const batch = cut(ofLane, { topic, lane });
      isCut ||= batch.length < ofLane.length;
      begin(connection, toBatch(batch, { topic, lane }));
    }
    return isMore || isCut;
  }

  /** What ends a rebuild is published alone while facts are refused: it may be refused, too. */
  function cut(rows: readonly OutboxRow[], place: Place): readonly OutboxRow[] {
    const part = rows.slice(0, sizes.get(nameOf(place)) ?? batchSize);
    const end = refusing.has(place.topic) ? part.findIndex(({ message }) => endsRebuild(message)) : -1;
    return end < 0 ? part : part.slice(0, Math.max(1, end));
  }

  function toBatch(rows: readonly OutboxRow[], place: Place): Batch {
    return {
      ...place,
      messages: rows.map(({ message }) => message),
      done: (connection) => deleteTogether(connection, place.topic, rows),
      async refused(connection, error) {
        for (const row of rows) {
          await deadLetterRow(connection, row, error);
          const { topic, factId } = row;
          log.error("fact parked: the bus refuses it", { schema: db.schema, topic, factId, error });
        }
      },
    };
  }

  /** Begins to publish refused facts whose replay is requested. */
  async function moveRefused(connection: Dedicated): Promise<void> {
    if (refusing.size === 0 || performance.now() < replayAt) return;
    replayAt = performance.now() + replayMs;
    for (const fact of await findRequested(connection, lanes))
      if (!held.has(nameOf(fact))) begin(connection, toReplay(fact));
  }

  function toReplay({ id, topic, lane, message }: RefusedFact): Batch {
    return {
      topic,
      lane,
      messages: [message],
      async done(connection) {
        await deleteRefused(connection, id);
        // The next one of the same lane.
        replayAt = 0;
        log.info("parked fact replayed", { topic, factId: message.headers[header.factId] });
      },
      async refused(connection, error) {
        await keepRefused(connection, id, error);
        replayAt = 0;
        log.warn("a parked fact failed again", { topic, factId: message.headers[header.factId], error });
      },
    };
  }

  function begin(connection: Dedicated, batch: Batch): void {
    held.set(nameOf(batch), batch);
    const moving = move(connection, batch).finally(() => underWay.delete(moving));
    underWay.add(moving);
    begun.push(moving);
  }

  async function lead(connection: Dedicated, signal: AbortSignal): Promise<void> {
    claimed.clear();
    leads.set(connection, signal);
    // A crash may undo a deletion. Then a fact is published twice, which its consumers notice: no need to wait for the disk.
    await connection.run(sql`set synchronous_commit = off`);
    // Its statements are planned once, perhaps for an empty outbox, and must read a full one by its index, too.
    await connection.run(sql`set enable_seqscan = off`);
    await connection.run(sql`set enable_bitmapscan = off`);
    refusing = new Set(await findRefusedTopics(connection));
    let foundAt = performance.now();
    while (!signal.aborted) {
      const looked = performance.now();
      begun = [];
      await moveRefused(connection);
      let isMore = false;
      for (const topic of await findWaitingTopics(connection)) if (await moveRows(connection, topic)) isMore = true;
      const tookMs = performance.now() - looked;
      if (begun.length > 0 || isMore) foundAt = performance.now();
      if (begun.length > 0) await settledOr(waitMs, begun);
      if (begun.length > 0 && !isMore) await alarm.pause(Math.max(0, looked + gatherMs() - performance.now()));
      const restMs = performance.now() - foundAt < pauseMs ? pollMs : pollAfterPauseMs;
      if (!isMore) await alarm.pause(Math.max(restMs, idleMs(tookMs)), { lightly: true });
    }
    if (alarm.stopped) await Promise.all(underWay);
  }

  const leader = startLeader({ db, lock: relayLock(db.schema), log, lead });
  return {
    async stop() {
      alarm.stop();
      await settledOr(longestStopMs, [leader.stop()]);
    },
  };
}

import { setMaxListeners } from "node:events";
import type { Topic } from "@tessera/protos/topic";
import { runInContext } from "../context.ts";
import { Fault, isTimeout, isTransient } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Db, Tx } from "../pg/database.ts";
import type { CopyTable } from "../pg/table.ts";
import type { Log } from "../telemetry/log.ts";
import { type SpanOptions, type Tracing, untraced } from "../telemetry/trace.ts";
import { backoff } from "../waiting/backoff.ts";
import { type BatchCall, batchCalls } from "../waiting/batch-calls.ts";
import { pause } from "../waiting/pause.ts";
import { Turns } from "../waiting/turns.ts";
import {
  type Accepted,
  acceptDeadLetter,
  acceptNew,
  type Binding,
  type Claimed,
  deadLetterPoison,
  type Replayed,
} from "./accept-facts.ts";
import type { Delivery } from "./bus.ts";
import type { IsErased } from "./dead-letter.ts";
import { divide } from "./divide.ts";
import type { Apply } from "./fact.ts";
import { identifyAnything } from "./fact-id.ts";
import { header } from "./headers.ts";
import type { Sweep } from "./pass-markers.ts";

export interface ConsumeOptions<D = unknown> {
  /** Sweeps the consumer's copy after a rebuild of the topic; undefined for a consumer without a copy. */
  readonly sweep?: Sweep;
  readonly copy?: Pick<CopyTable<never, never, unknown>, "hasOutdated">;
  /** Called after every delivery, whether or not it was committed. */
  readonly afterDelivery?: (deps: D) => void;
  /** For facts that a service acts on before it serves: makes the question whether what they began has ended. */
  readonly servesAfter?: (db: Db) => () => Promise<boolean>;
}

export interface ConsumerRuntime<D> {
  readonly db: Db;
  /** The name of the service. */
  readonly group: string;
  readonly log: Log;
  readonly tracing?: Tracing;
  /** Shared by the consumers of a service; by default of its own. */
  readonly turns?: Turns;
  readonly isErased: IsErased;
  /** What handlers, consumers and jobs of the service work with. */
  readonly deps: D;
}

/** `D` is what a consumer needs of its service. */
export interface Consumer<D = unknown> {
  readonly topic: string;
  readonly open: (runtime: ConsumerRuntime<D>) => OpenConsumer;
}

export interface OpenConsumer {
  readonly topic: string;
  /** The service that publishes the topic. */
  readonly owner: string;
  /** Whether its copy has states that were stored by a version that knew less of them. */
  hasOutdated(): Promise<boolean>;
  /** Whether what its facts began has ended; undefined: the service serves without it. */
  readonly servesAfter?: () => Promise<boolean>;
  deliver(messages: readonly Delivery[], signal: AbortSignal): Promise<void>;
  /** Acts on the dead letter that `claim` returns, in the same transaction. When it throws, the transaction rolls back. */
  replay(claim: (tx: Tx) => Promise<Claimed | undefined>): Promise<Replayed>;
}

/** A fact that fails this often becomes a dead letter: more tries would only delay the facts behind it. */
const attempts = 5;

/** The same for a fact that runs into a time limit. Each of its tries takes half a minute. */
const longAttempts = 3;

const pauses = { firstMs: 100, longestMs: 5000 };

/** The backoff between the tries of a single fact. */
const shortPauses = { firstMs: 40 };

/**
 * Two keep the database busy while this process decodes. A third copies at most a tenth faster, and has requests wait for
 * processors. More in a service would take connections from requests, too.
 */
const transactionsOfTopic = 2;
const transactionsOfService = 3;

/** By then all transactions that began before have ended, or run into their time limits. */
const longestWaitMs = 120_000;

/** The most facts, of several partitions, in one transaction. */
const mostTogether = 500;
const mostBytesTogether = 1024 * 1024;

/**
 * Makes the limit for the transactions of a service's consumers. They share the connections with its requests. A topic
 * gets no more than its part, and topics take turns.
 */
export function limitTransactions(): Turns {
  return new Turns({
    total: transactionsOfService,
    each: transactionsOfTopic,
    waitMs: longestWaitMs,
    busy: () => fault("database_busy", "the transactions of other topics take too long", { retryAfterMs: 1000 }),
  });
}

/** Batches of several partitions wait for a free transaction without a time limit. */
const never = new AbortController().signal;
setMaxListeners(0, never);

/**
 * Declares a consumer.
 *
 * It gets arrays of facts; partitions that wait at the same time share one. The transaction that acts on facts records
 * their ids in the inbox, so a fact that is delivered twice acts once.
 *
 * While the database is away, everything waits. A batch that fails in any other way is divided, so that a fact delays
 * only the later ones of its key, and until it is a dead letter what its partition delivers next. A single fact that
 * loses to other transactions waits for them. If it fails in another way, it is tried again a few times, and then becomes
 * a dead letter with its cause. A fact that `apply` refuses becomes a dead letter in the transaction that acts on the
 * others.
 */
export function consume<F, D = unknown>(
  topic: Topic<F>,
  apply: Apply<F, D>,
  { sweep, copy, afterDelivery = () => {}, servesAfter }: ConsumeOptions<D> = {},
): Consumer<D> {
  return {
    topic: topic.name,
    open({ db, group, log, tracing = untraced, turns = limitTransactions(), isErased, deps }) {
      const binding: Binding<F> = { topic, group, sweep, isErased, apply: (tx, facts) => apply(tx, facts, deps) };
      const consumer = openConsumer(binding, { db, log, tracing, turns });
      const notify = () => afterDelivery(deps);
      return {
        topic: topic.name,
        owner: topic.owner,
        hasOutdated: async () => (await copy?.hasOutdated(db)) ?? false,
        ...(servesAfter === undefined ? {} : { servesAfter: servesAfter(db) }),
        deliver: (messages, signal) => consumer.deliver(messages, signal).finally(notify),
        replay: (claim) => consumer.replay(claim).finally(notify),
      };
    },
  };
}

function openConsumer<F>(
  binding: Binding<F>,
  { db, log, tracing, turns }: { db: Db; log: Log; tracing: Tracing; turns: Turns },
): Pick<OpenConsumer, "deliver" | "replay"> {
  const { topic, group } = binding;
  const about = { group, topic: topic.name };
  const together = batchCalls<Delivery>({
    act: (batch) => attempt(batch, never),
    isCommon: isOutage,
    sizeOf: ({ value }) => value?.byteLength ?? 0,
    atOnce: transactionsOfTopic,
    most: mostTogether,
    mostBytes: mostBytesTogether,
  });

  async function attempt(batch: readonly Delivery[], signal: AbortSignal): Promise<void> {
    const transact = () => db.transaction((tx) => acceptNew(tx, binding, batch));
    const act = () => (tracing.isOn ? tracing.span(`process ${topic.name}`, describe(batch), transact) : transact());
    const turn = { party: topic.name, amount: 1, signal };
    report(await turns.run(turn, () => inTraceOf(batch[0], act)));
  }

  function describe(batch: readonly Delivery[]): SpanOptions {
    const attributes = {
      "messaging.operation.type": "process",
      "messaging.operation.name": "process",
      "messaging.destination.name": topic.name,
      "messaging.consumer.group.name": group,
      "messaging.batch.message_count": batch.length,
    };
    return { kind: "consumer", attributes };
  }

  function report({ refused, swept }: Accepted): void {
    for (const { id, cause } of refused)
      log.warn("fact parked: its consumer refuses it", { ...about, factId: id, cause });
    if (swept !== undefined) log.info("copy swept: its topic was rebuilt", { ...about, removed: swept });
  }

  /** Resolves when all messages are accepted or dead letters. */
  async function accept(messages: readonly Delivery[], signal: AbortSignal, first: BatchCall<Delivery>): Promise<void> {
    const [only, ...others] = messages;
    let act = first;
    let tries = 0;
    for (let failed = 1; ; failed += 1) {
      try {
        signal.throwIfAborted();
        await act(messages, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const isOwn = !isOutage(error);
        if (isOwn && others.length > 0) return acceptDivided(messages, signal, error);
        // Facts of other partitions would fail with it, and wait for its time limit.
        if (isOwn) act = attempt;
        if (isOwn && !isConflict(error)) tries += 1;
        const isEnough = tries >= (isTimeout(error) ? longAttempts : attempts);
        if (only !== undefined && isEnough) return bury(only, error, signal);
        if (isTransient(error)) log.warn("facts are waiting: their consumer cannot act now", { ...about, error });
        await pause(isTransient(error) ? backoff(pauses, failed) : backoff(shortPauses, failed), signal);
      }
    }
  }

  async function acceptDivided(messages: readonly Delivery[], signal: AbortSignal, error: unknown): Promise<void> {
    log.warn("facts are divided: together they could not be applied", { ...about, facts: messages.length, error });
    for (const parts of divide(messages)) {
      // Not Promise.all: no part may still be under way when the messages are delivered again.
      const outcomes = await Promise.allSettled(parts.map((part) => accept(part, signal, attempt)));
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    }
  }

  async function bury(message: Delivery, error: unknown, signal: AbortSignal): Promise<void> {
    await deadLetter(message, error, signal);
    const { id: factId } = identifyAnything(topic, message);
    log.error("fact parked: no retry could apply it", { ...about, factId, error });
  }

  /** Tries until it succeeds: without its dead letter, the fact would be lost when its batch is acknowledged. */
  async function deadLetter(message: Delivery, error: unknown, signal: AbortSignal): Promise<void> {
    for (let failed = 1; ; failed += 1) {
      try {
        signal.throwIfAborted();
        await deadLetterPoison(db, binding, { message, error });
        return;
      } catch (failure) {
        signal.throwIfAborted();
        log.error("facts are waiting: one can neither be applied nor parked", { ...about, error: failure });
        await pause(backoff(pauses, failed), signal);
      }
    }
  }

  return {
    deliver: (messages, signal) => accept(messages, signal, together),
    replay: (claim) =>
      db.transaction(async (tx) => {
        const claimed = await claim(tx);
        if (claimed === undefined) return "not claimed";
        return inTraceOf(claimed.message, () => acceptDeadLetter(tx, binding, claimed));
      }),
  };
}

/** Runs work in the trace of a message, or in none. */
function inTraceOf<T>(message: Delivery | undefined, work: () => Promise<T>): Promise<T> {
  const traceparent = message?.headers[header.traceparent];
  return runInContext(traceparent === undefined ? {} : { traceparent }, work);
}

/** Whether every batch would fail. */
function isOutage(error: unknown): boolean {
  return error instanceof Fault && error.kind === "unavailable";
}

function isConflict(error: unknown): boolean {
  return error instanceof Fault && (error.kind === "conflict" || error.kind === "exhausted");
}

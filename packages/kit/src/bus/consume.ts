import type { Topic } from "@tessera/protos/topic";
import { backoff } from "../backoff.ts";
import { runInContext } from "../context.ts";
import { Fault, isTransient } from "../fault.ts";
import type { Log } from "../log.ts";
import { pause } from "../pause.ts";
import type { Db, Tx } from "../pg/database.ts";
import type { Tracing } from "../trace.ts";
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
import type { Apply } from "./fact.ts";
import { identifyAnything } from "./fact-id.ts";
import { gather } from "./gather.ts";
import { header } from "./headers.ts";
import type { Sweep } from "./pass-markers.ts";

export interface ConsumeOptions<D = unknown> {
  /** Sweeps the consumer's copy after a rebuild of the topic; undefined for a consumer without a copy. */
  readonly sweep?: Sweep;
  /** Called after every delivery, whether or not it was committed. */
  readonly afterDelivery?: (deps: D) => void;
}

/** What a consumer runs on. */
export interface ConsumerRuntime<D> {
  readonly db: Db;
  /** The name of the service. */
  readonly group: string;
  readonly log: Log;
  readonly tracing?: Tracing;
  /** What handlers, consumers and jobs of the service work with. */
  readonly deps: D;
}

/** A consumer of a topic. `D` is what it needs of its service. */
export interface Consumer<D = unknown> {
  readonly topic: string;
  readonly open: (runtime: ConsumerRuntime<D>) => OpenConsumer;
}

/** A consumer on the database of its service. */
export interface OpenConsumer {
  readonly topic: string;
  deliver(messages: readonly Delivery[], signal: AbortSignal): Promise<void>;
  /** Acts on the dead letter that `claim` returns, in the same transaction. When it throws, the transaction rolls back. */
  replay(claim: (tx: Tx) => Promise<Claimed | undefined>): Promise<Replayed>;
}

/** A fact that fails this often becomes a dead letter: more tries would only delay the facts behind it. */
const attempts = 5;

const pauses = { firstMs: 100, longestMs: 5000 };

/** A few keep the database busy while this process decodes. More would take connections from requests. */
const transactionsAtOnce = 3;

/** The most facts, of several partitions, in one transaction. */
const mostTogether = 500;

/**
 * Declares a consumer.
 *
 * It gets arrays of facts; partitions that wait at the same time share one. The transaction that acts on facts records
 * their ids in the inbox, so a fact that is delivered twice acts once. After a transient failure (database lost, lock not
 * available) the partition waits and retries until it succeeds. After any other failure the facts are tried one by one,
 * and a fact that keeps failing becomes a dead letter with its cause. A fact that `apply` refuses becomes a dead letter
 * in the transaction that acts on the others.
 */
export function consume<F, D = unknown>(
  topic: Topic<F>,
  apply: Apply<F, D>,
  { sweep, afterDelivery = () => {} }: ConsumeOptions<D> = {},
): Consumer<D> {
  return {
    topic: topic.name,
    open({ db, group, log, tracing, deps }) {
      const binding: Binding<F> = { topic, group, sweep, apply: (tx, facts) => apply(tx, facts, deps) };
      const consumer = openConsumer(binding, { db, log, tracing });
      const notify = () => afterDelivery(deps);
      return {
        topic: topic.name,
        deliver: (messages, signal) => consumer.deliver(messages, signal).finally(notify),
        replay: (claim) => consumer.replay(claim).finally(notify),
      };
    },
  };
}

function openConsumer<F>(
  binding: Binding<F>,
  { db, log, tracing }: { db: Db; log: Log; tracing: Tracing | undefined },
): Omit<OpenConsumer, "topic"> {
  const { topic, group } = binding;
  const about = { group, topic: topic.name };
  const together = gather<Delivery>({
    act: attempt,
    isCommon: isOutage,
    places: transactionsAtOnce,
    most: mostTogether,
  });

  async function attempt(batch: readonly Delivery[]): Promise<void> {
    const transact = () => db.transaction((tx) => acceptNew(tx, binding, batch));
    const act =
      tracing === undefined
        ? transact
        : () => tracing.span(`consume ${topic.name}`, { group, facts: batch.length }, transact);
    report(await inTraceOf(batch[0], act));
  }

  function report({ refused, swept }: Accepted): void {
    for (const { id, cause } of refused)
      log.warn("fact dead-lettered: its consumer refuses it", { ...about, factId: id, cause });
    if (swept !== undefined) log.info("copy swept: its topic was rebuilt", { ...about, removed: swept });
  }

  async function deliverSingly(message: Delivery, signal: AbortSignal): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      const failed = await whileTransient(() => attempt([message]), signal);
      if (failed === undefined) return;
      if (tried === attempts) {
        const { error } = failed;
        await deadLetter(message, error, signal);
        const { id: factId } = identifyAnything(topic, message);
        log.error("fact dead-lettered: no retry could apply it", { ...about, factId, error });
        return;
      }
      await pause(backoff({ firstMs: 40 }, tried), signal);
    }
  }

  /** Tries until it succeeds: without its dead letter, the fact would be lost when its batch is acknowledged. */
  async function deadLetter(message: Delivery, error: unknown, signal: AbortSignal): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      const failure = await whileTransient(() => deadLetterPoison(db, binding, { message, error }), signal);
      if (failure === undefined) return;
      log.error("facts are waiting: one can neither be applied nor dead-lettered", {
        topic: topic.name,
        error: failure.error,
      });
      await pause(backoff(pauses, tried), signal);
    }
  }

  /** Runs work until it succeeds or has a failure that does not pass by itself. */
  async function whileTransient(
    work: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<{ error: unknown } | undefined> {
    for (let tried = 1; ; tried += 1) {
      try {
        signal.throwIfAborted();
        await work();
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (!isTransient(error)) return { error };
        log.warn("facts are waiting: their consumer cannot act now", { topic: topic.name, error });
        await pause(backoff(pauses, tried), signal);
      }
    }
  }

  return {
    async deliver(messages, signal) {
      const failure = await whileTransient(() => together(messages, signal), signal);
      if (failure === undefined) return;
      for (const message of messages) await deliverSingly(message, signal);
    },
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

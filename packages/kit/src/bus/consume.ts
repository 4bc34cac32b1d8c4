import type { Topic } from "@tessera/protos/topic";
import { backoff } from "../backoff.ts";
import { runInContext } from "../context.ts";
import { describeCause } from "../describe-cause.ts";
import { Fault, isTransient } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Log } from "../log.ts";
import { pause } from "../pause.ts";
import type { Db, Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import type { Tracing } from "../trace.ts";
import type { Delivery } from "./bus.ts";
import { holdParked, markOvertaken, park } from "./dead-letter.ts";
import { type FactIdentity, identifyAnything, identifyFact } from "./fact-id.ts";
import { gather } from "./gather.ts";
import { header } from "./headers.ts";
import { passMarkers, type Sweep, type Swept } from "./pass-markers.ts";

/** A fact as its consumer sees it. */
export interface Fact<F> {
  readonly id: string;
  readonly key: string;
  /** When it was written, in microseconds since 1970. */
  readonly at: number;
  /** Null: a tombstone, the entity of this key is gone. */
  readonly value: F | null;
}

/** A fact that its consumer will never take, however often it comes. */
export interface Refusal<F> {
  readonly fact: Fact<F>;
  /** For an operator; it names fields, never values. */
  readonly cause: string;
}

/** Acts on facts; those that it returns are parked at once, and it must not have acted on them. */
export type Apply<F, D = unknown> = (
  tx: Tx,
  facts: readonly Fact<F>[],
  deps: D,
  // biome-ignore lint/suspicious/noConfusingVoidType: most consumers refuse nothing, and return nothing
) => Promise<readonly Refusal<F>[] | void>;

export interface ConsumeOptions<D = unknown> {
  /** How the consumer's copy is swept when its topic was rebuilt; a consumer that keeps no copy has none. */
  readonly sweep?: Sweep;
  /** Called after every delivery, whether or not it was committed. */
  readonly afterDelivery?: (deps: D) => void;
}

/** A message that was parked, taken out of its place in the transaction that acts on it. */
export interface Claimed {
  /** Rises with each that is parked. */
  readonly id: number;
  readonly message: Delivery;
  /** A later fact of its key was accepted. */
  readonly overtaken: boolean;
}

/** What became of a replay: `superseded` facts tell of a state that a later one has replaced. */
export type Replayed = "acted" | "superseded" | "not claimed";

/** What a consumer runs on. */
export interface ConsumerRuntime<D> {
  readonly db: Db;
  /** The name of the service. */
  readonly group: string;
  readonly log: Log;
  readonly tracing?: Tracing;
  /** What the service hands to its handlers, consumers and jobs. */
  readonly deps: D;
}

/** What a service does about a topic. `D` is what it needs of the service. */
export interface Consumer<D = unknown> {
  readonly topic: string;
  readonly open: (runtime: ConsumerRuntime<D>) => OpenConsumer;
}

/** A consumer on the database of its service. */
export interface OpenConsumer {
  readonly topic: string;
  deliver(messages: readonly Delivery[], signal: AbortSignal): Promise<void>;
  /** Acts on what `claim` finds, in the same transaction; where it cannot, it throws and nothing has happened. */
  replay(claim: (tx: Tx) => Promise<Claimed | undefined>): Promise<Replayed>;
}

/** A poisoned fact is tried this often before it is parked: more would only hold up the facts behind it. */
const attempts = 5;

const pauses = { firstMs: 100, longestMs: 5000 };

/** A few keep the database busy while this process decodes; more would take connections from those who wait for answers. */
const transactionsAtOnce = 3;

/** As many facts of several partitions share a transaction. */
const mostTogether = 500;

/**
 * Declares a consumer.
 *
 * Facts come in arrays, those of partitions that wait for the same place in one. Their ids are recorded in the inbox in the transaction
 * that acts on them, so a fact delivered twice acts once. A failure that may
 * heal (database away, lock not had) is retried for as long as it takes while
 * the partition waits. Any other failure singles the facts out; the one that
 * keeps failing is parked in `dead_letter` with its cause. What the consumer
 * itself refuses is parked in the transaction that acts on the others.
 */
export function consume<F, D = unknown>(
  topic: Topic<F>,
  apply: Apply<F, D>,
  { sweep, afterDelivery }: ConsumeOptions<D> = {},
): Consumer<D> {
  return {
    topic: topic.name,
    open({ db, group, log, tracing, deps }) {
      const binding: Binding<F> = { topic, group, sweep, apply: (tx, facts) => apply(tx, facts, deps) };
      const consumer = openConsumer(binding, { db, log, tracing });
      if (afterDelivery === undefined) return consumer;
      const notify = () => afterDelivery(deps);
      return {
        topic: topic.name,
        deliver: (messages, signal) => consumer.deliver(messages, signal).finally(notify),
        replay: (claim) => consumer.replay(claim).finally(notify),
      };
    },
  };
}

/** What leads from a topic to what one service does about it. */
interface Binding<F> {
  readonly topic: Topic<F>;
  readonly group: string;
  readonly apply: Apply<F>;
  readonly sweep: Sweep | undefined;
}

function openConsumer<F>(
  binding: Binding<F>,
  { db, log, tracing }: { db: Db; log: Log; tracing: Tracing | undefined },
): OpenConsumer {
  const { topic, group } = binding;
  const together = gather<Delivery>({
    act: attempt,
    isCommon: isOutage,
    places: transactionsAtOnce,
    most: mostTogether,
  });

  async function attempt(batch: readonly Delivery[]): Promise<void> {
    const traceparent = batch[0]?.headers[header.traceparent];
    const transact = () => db.transaction((tx) => acceptNew(tx, binding, batch));
    const act =
      tracing === undefined
        ? transact
        : () => tracing.span(`consume ${topic.name}`, { group, facts: batch.length }, transact);
    const accepted = await runInContext(traceparent === undefined ? {} : { traceparent }, act);
    report(accepted, { log, group, topic: topic.name });
  }

  async function deliverSingly(message: Delivery, signal: AbortSignal): Promise<void> {
    const about = { log, signal, topic: topic.name };
    for (let tried = 1; ; tried += 1) {
      const failed = await untilHealed(() => attempt([message]), about);
      if (failed === undefined) return;
      if (tried === attempts) {
        const { error } = failed;
        await untilParked(() => parkPoison(db, binding, { message, error }), about);
        log.error("fact parked: no retry could apply it", {
          group,
          topic: topic.name,
          factId: identifyAnything(topic, message).id,
          error,
        });
        return;
      }
      await pause(backoff({ firstMs: 40 }, tried), signal);
    }
  }

  return {
    topic: topic.name,
    async deliver(messages, signal) {
      const about = { log, signal, topic: topic.name };
      const failure = await untilHealed(() => together(messages, signal), about);
      if (failure === undefined) return;
      for (const message of messages) await deliverSingly(message, signal);
    },
    replay: (claim) =>
      db.transaction(async (tx) => {
        const claimed = await claim(tx);
        if (claimed === undefined) return "not claimed";
        const act = () => acceptParked(tx, binding, claimed);
        const traceparent = claimed.message.headers[header.traceparent];
        return traceparent === undefined ? act() : runInContext({ traceparent }, act);
      }),
  };
}

/** Runs work until it succeeds or fails for a reason that waiting does not mend. */
async function untilHealed(
  work: () => Promise<void>,
  { log, signal, topic }: { log: Log; signal: AbortSignal; topic: string },
): Promise<{ error: unknown } | undefined> {
  for (let tried = 1; ; tried += 1) {
    try {
      signal.throwIfAborted();
      await work();
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) return { error };
      log.warn("facts are waiting: their consumer cannot act now", { topic, error });
      await pause(backoff(pauses, tried), signal);
    }
  }
}

/** Parks whatever happens: a fact that is neither applied nor parked would be lost with the acknowledgement of its batch. */
async function untilParked(
  work: () => Promise<void>,
  { log, signal, topic }: { log: Log; signal: AbortSignal; topic: string },
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const failure = await untilHealed(work, { log, signal, topic });
    if (failure === undefined) return;
    log.error("facts are waiting: one can neither be applied nor parked", { topic, error: failure.error });
    await pause(backoff(pauses, tried), signal);
  }
}

/** Whether everybody would fail alike. */
function isOutage(error: unknown): boolean {
  return error instanceof Fault && error.kind === "unavailable";
}

/** What a transaction has done besides acting. */
interface Accepted {
  readonly refused: readonly { readonly id: string; readonly cause: string }[];
  readonly swept: Swept;
}

function report({ refused, swept }: Accepted, about: { log: Log; group: string; topic: string }): void {
  const { log, group, topic } = about;
  for (const { id, cause } of refused)
    log.warn("fact parked: its consumer refuses it", { group, topic, factId: id, cause });
  if (swept !== undefined) log.info("copy swept: its topic was rebuilt", { group, topic, removed: swept });
}

async function acceptNew<F>(
  tx: Tx,
  { topic, group, apply, sweep }: Binding<F>,
  batch: readonly Delivery[],
): Promise<Accepted> {
  const consumer = consumerName(group, topic.name);
  const markers = batch.filter((message) => message.headers[header.marker] !== undefined);
  const carriers = batch
    .filter((message) => message.headers[header.marker] === undefined)
    .map((message) => ({ message, identity: identifyFact(topic, message) }));
  const { fresh, isAnyParked } = await recordInInbox(
    tx,
    consumer,
    carriers.map(({ identity }) => identity),
  );
  // Taken from the set, so that a fact that stands twice in one batch acts once.
  const news = carriers.filter(({ identity }) => fresh.delete(identity.id));
  const facts = news.map(({ message, identity }) => toFact(topic, message, identity));
  const keyOf = ({ message }: { readonly message: Delivery }) => keyOfParked(topic, message);
  if (isAnyParked) await holdParked(tx, consumer, news.map(keyOf));
  const refusals = facts.length > 0 ? ((await apply(tx, facts, undefined)) ?? []) : [];
  const causes = new Map(refusals.map(({ fact, cause }) => [fact.id, cause]));
  const isAccepted = ({ identity }: (typeof news)[number]) => !causes.has(identity.id);
  if (isAnyParked) {
    await markOvertaken(tx, consumer, { keys: news.filter(isAccepted).map(keyOf) });
  }
  if (causes.size > 0) {
    const parked = news.flatMap(({ message, identity }, index) => {
      const cause = causes.get(identity.id);
      if (cause === undefined) return [];
      const key = keyOf({ message });
      const overtaken = key !== "" && news.slice(index + 1).some((later) => keyOf(later) === key && isAccepted(later));
      return [{ message: { ...message, key }, identity, cause, overtaken }];
    });
    await park(tx, consumer, parked);
  }
  const swept = markers.length > 0 ? await passMarkers(tx, { consumer, sweep }, markers) : undefined;
  return { refused: [...causes].map(([id, cause]) => ({ id, cause })), swept };
}

/** The key that later messages about the same have, too. */
function keyOfParked<F>({ fromOutside }: Topic<F>, { key, value }: Delivery): string {
  return fromOutside === undefined || value === null ? key : `${key}#${fromOutside.subject(value)}`;
}

/** Acts on what was parked. It is recorded already, or its record has been dropped with its day. */
async function acceptParked<F>(
  tx: Tx,
  { topic, apply, sweep, group }: Binding<F>,
  { id, message, overtaken }: Claimed,
): Promise<Replayed> {
  const consumer = consumerName(group, topic.name);
  if (message.headers[header.marker] !== undefined) {
    await passMarkers(tx, { consumer, sweep }, [message]);
    return "acted";
  }
  if (overtaken && topic.fromOutside !== undefined) {
    throw fault("fact_overtaken", "a later message about the same was accepted, which this one would undo");
  }
  if (overtaken && topic.retention.kind === "compacted") return "superseded";
  const identity = identifyFact(topic, message);
  await recordInInbox(tx, consumer, [identity]);
  await markOvertaken(tx, consumer, { keys: [message.key], before: id });
  const [refusal] = (await apply(tx, [toFact(topic, message, identity)], undefined)) ?? [];
  if (refusal !== undefined) throw new Refused(refusal.cause);
  return "acted";
}

/** What a consumer refused when it was replayed: nothing of the transaction may remain. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** The name under which inbox, markers and dead letters of one consumer stand. */
export function consumerName(group: string, topic: string): string {
  return `${group} ${topic}`;
}

/** Tells which facts are new, and whether any is parked that a new one might overtake. */
async function recordInInbox(
  tx: Tx,
  consumer: string,
  facts: readonly FactIdentity[],
): Promise<{ fresh: Set<string>; isAnyParked: boolean }> {
  if (facts.length === 0) return { fresh: new Set(), isAnyParked: false };
  const rows = await tx.many<{ fact_id: string; parked: boolean }>(sql`
    insert into inbox (fact_on, consumer, fact_id)
    select (fact.at at time zone 'UTC')::date, ${consumer}, fact.id
      from unnest(${facts.map((fact) => fact.id)}::uuid[],
                  ${facts.map((fact) => toTimestamp(fact.at))}::timestamptz[]) as fact (id, at)
        on conflict (fact_on, consumer, fact_id) do nothing
    returning inbox.fact_id, exists (select from dead_letter where dead_letter.consumer = ${consumer}) as parked`);
  return { fresh: new Set(rows.map((row) => row.fact_id)), isAnyParked: rows[0]?.parked === true };
}

async function parkPoison<F>(
  db: Db,
  { topic, group }: Binding<F>,
  { message, error }: { message: Delivery; error: unknown },
): Promise<void> {
  const consumer = consumerName(group, topic.name);
  const identity = identifyAnything(topic, message);
  await db.transaction(async (tx) => {
    await recordInInbox(tx, consumer, [identity]);
    const kept = { ...message, key: keyOfParked(topic, message) };
    await park(tx, consumer, [{ message: kept, identity, cause: describeCause(error), overtaken: false }]);
  });
}

function toFact<F>(topic: Topic<F>, { key, value }: Delivery, { id, at }: FactIdentity): Fact<F> {
  return { id, key, at, value: value === null ? null : topic.decode(value) };
}

/** Keeps the last fact of each key: within one batch only the newest state of an entity matters. */
export function newestPerKey<F>(facts: readonly Fact<F>[]): Fact<F>[] {
  return [...new Map(facts.map((fact) => [fact.key, fact])).values()];
}

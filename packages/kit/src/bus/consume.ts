import { createHash } from "node:crypto";
import type { Topic } from "@tessera/protos/topic";
import { runInContext } from "../context.ts";
import { Fault } from "../fault.ts";
import type { Log } from "../log.ts";
import { pause } from "../pause.ts";
import type { Db, Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import type { Tracing } from "../trace.ts";
import type { Delivery } from "./bus.ts";
import { header } from "./headers.ts";

/** A fact as its consumer sees it. */
export interface Fact<F> {
  readonly id: string;
  readonly key: string;
  /** When it was written, in microseconds since 1970. */
  readonly at: number;
  /** Null: a tombstone, the entity of this key is gone. */
  readonly value: F | null;
}

/** One topic's way into one service. */
export interface Consumer {
  readonly topic: string;
  deliver(
    messages: readonly Delivery[],
    options: { group: string; log: Log; signal: AbortSignal; tracing?: Tracing },
  ): Promise<void>;
}

/** A poisoned fact is tried this often before it is parked: more would only hold up the facts behind it. */
const attempts = 5;

const longestPauseMs = 5000;

/**
 * Declares a consumer.
 *
 * Facts come in arrays. Their ids are recorded in the inbox in the transaction
 * that acts on them, so a fact delivered twice acts once. A failure that may
 * heal (database away, lock not had) is retried for as long as it takes while
 * the partition waits. Any other failure singles the facts out; the one that
 * keeps failing is parked in `dead_letter` with its cause.
 */
export function consume<F>(
  topic: Topic<F>,
  db: Db,
  apply: (tx: Tx, facts: readonly Fact<F>[]) => Promise<void>,
): Consumer {
  return {
    topic: topic.name,
    async deliver(messages, { group, log, signal, tracing }) {
      const attempt = async (batch: readonly Delivery[]) => {
        const traceparent = batch[0]?.headers[header.traceparent];
        const transact = () => db.transaction((tx) => applyNew(tx, group, topic, batch, apply));
        const act =
          tracing === undefined
            ? transact
            : () => tracing.span(`consume ${topic.name}`, { group, facts: batch.length }, transact);
        await (traceparent === undefined ? act() : runInContext({ traceparent }, act));
      };
      const failure = await untilHealed(() => attempt(messages), { log, signal, topic: topic.name });
      if (failure === undefined) return;
      for (const message of messages) await deliverSingly(message);

      async function deliverSingly(message: Delivery): Promise<void> {
        for (let tried = 1; ; tried += 1) {
          const cause = await untilHealed(() => attempt([message]), { log, signal, topic: topic.name });
          if (cause === undefined) return;
          if (tried === attempts) {
            await untilParked(() => park(db, group, message, cause.error), { log, signal, topic: topic.name });
            log.error("fact parked: no retry could apply it", {
              group,
              topic: topic.name,
              factId: message.headers[header.factId],
              error: cause.error,
            });
            return;
          }
          await pause(20 * 2 ** tried, signal);
        }
      }
    },
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
      if (!mayHeal(error)) return { error };
      log.warn("facts are waiting: their consumer cannot act now", { topic, error });
      await pause(Math.min(longestPauseMs, 50 * 2 ** tried), signal);
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
    await pause(Math.min(longestPauseMs, 50 * 2 ** tried), signal);
  }
}

function mayHeal(error: unknown): boolean {
  return (
    error instanceof Fault && (error.kind === "unavailable" || error.kind === "timeout" || error.kind === "conflict")
  );
}

async function applyNew<F>(
  tx: Tx,
  group: string,
  topic: Topic<F>,
  batch: readonly Delivery[],
  apply: (tx: Tx, facts: readonly Fact<F>[]) => Promise<void>,
): Promise<void> {
  const markers = batch.filter((message) => message.headers[header.marker] !== undefined);
  const carriers = batch.filter((message) => message.headers[header.marker] === undefined);
  const ids = carriers.map((message) => ({ id: factId(message), at: factAt(message) }));
  const fresh = await recordInInbox(tx, consumerName(group, topic.name), ids);
  // Taken from the set, so that a fact that stands twice in one batch acts once.
  const facts = carriers.filter((message) => fresh.delete(factId(message))).map((message) => toFact(topic, message));
  if (facts.length > 0) await apply(tx, facts);
  if (markers.length > 0) await recordMarkers(tx, consumerName(group, topic.name), markers);
}

/** The name under which inbox, markers and dead letters of one consumer stand. */
export function consumerName(group: string, topic: string): string {
  return `${group} ${topic}`;
}

async function recordInInbox(
  tx: Tx,
  consumer: string,
  facts: readonly { readonly id: string; readonly at: number }[],
): Promise<Set<string>> {
  if (facts.length === 0) return new Set();
  const rows = await tx.many<{ fact_id: string }>(sql`
    insert into inbox (fact_on, consumer, fact_id)
    select (fact.at at time zone 'UTC')::date, ${consumer}, fact.id
      from unnest(${facts.map((fact) => fact.id)}::uuid[],
                  ${facts.map((fact) => toTimestamp(fact.at))}::timestamptz[]) as fact (id, at)
        on conflict (fact_on, consumer, fact_id) do nothing
    returning inbox.fact_id`);
  return new Set(rows.map((row) => row.fact_id));
}

async function recordMarkers(tx: Tx, consumer: string, markers: readonly Delivery[]): Promise<void> {
  await tx.run(sql`
    insert into passed_marker (consumer, marker, topic, partition)
    select ${consumer}, passed.marker, passed.topic, passed.partition
      from unnest(${markers.map((message) => message.headers[header.marker])}::uuid[],
                  ${markers.map((message) => message.topic)}::text[],
                  ${markers.map((message) => message.partition)}::integer[]) as passed (marker, topic, partition)
        on conflict (consumer, marker, topic, partition) do nothing`);
}

async function park(db: Db, group: string, message: Delivery, cause: unknown): Promise<void> {
  const consumer = consumerName(group, message.topic);
  const [id, at] = [message.headers[header.factId] ?? "", Number(message.headers[header.at])];
  // What is no fact of ours must be parked, too: under a name made of what it is, at no particular time.
  const parked = { id: isUuid(id) ? id : uuidOf(message), at: isInstant(at) ? at : 0 };
  await db.transaction(async (tx) => {
    await recordInInbox(tx, consumer, [parked]);
    await tx.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, payload, cause)
      values (${consumer}, ${message.topic}, ${withoutNul(message.key)}, ${parked.id},
              ${toTimestamp(parked.at)}::timestamptz, ${message.value === null ? null : Buffer.from(message.value)},
              ${withoutNul(describe(cause))})
          on conflict (consumer, fact_id) do nothing`);
  });
}

/** Postgres has no room for it in a text. */
function withoutNul(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

function isInstant(value: number): boolean {
  return Number.isSafeInteger(value);
}

function uuidOf({ topic, key, value }: Delivery): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([topic, key]))
    .update(value ?? "")
    .digest("hex");
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

/** The cause's kind, not its text: texts of the database quote values, and those may be personal. */
function describe(cause: unknown): string {
  if (cause instanceof Fault) return `${cause.kind} ${cause.code}: ${cause.message}`;
  if (!(cause instanceof Error)) return "unknown";
  const code = "code" in cause && typeof cause.code === "string" ? ` ${cause.code}` : "";
  const where = cause.stack?.split("\n").find((line) => line.trimStart().startsWith("at ")) ?? "";
  return `${cause.name}${code}${where}`;
}

function toFact<F>(topic: Topic<F>, message: Delivery): Fact<F> {
  return {
    id: factId(message),
    key: message.key,
    at: factAt(message),
    value: message.value === null ? null : topic.decode(message.value),
  };
}

/** As Postgres writes it, whose answer tells which facts are new. */
function factId(message: Delivery): string {
  const id = message.headers[header.factId] ?? "";
  if (!isUuid(id)) throw new Error(`a message on ${message.topic} has no ${header.factId}`);
  return id.toLowerCase();
}

function factAt(message: Delivery): number {
  const at = Number(message.headers[header.at]);
  if (!isInstant(at)) throw new Error(`a message on ${message.topic} has no ${header.at}`);
  return at;
}

/** Keeps the last fact of each key: within one batch only the newest state of an entity matters. */
export function newestPerKey<F>(facts: readonly Fact<F>[]): Fact<F>[] {
  return [...new Map(facts.map((fact) => [fact.key, fact])).values()];
}

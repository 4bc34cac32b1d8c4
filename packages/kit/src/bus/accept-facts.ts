import type { Topic } from "@tessera/protos/topic";
import { fault } from "../faults.ts";
import type { Db, Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import { describeCause } from "../telemetry/describe-cause.ts";
import type { Delivery } from "./bus.ts";
import { deleteDeadLetters, type IsErased, lockDeadLetters, markSuperseded, storeDeadLetters } from "./dead-letter.ts";
import type { Apply, Fact } from "./fact.ts";
import { type FactIdentity, identifyAnything, identifyFact } from "./fact-id.ts";
import { header, isMarker } from "./headers.ts";
import { passMarkers, type Sweep, type Swept } from "./pass-markers.ts";

/** What one service does about a topic. */
export interface Binding<F> {
  readonly topic: Topic<F>;
  readonly group: string;
  readonly apply: Apply<F>;
  readonly sweep: Sweep | undefined;
  readonly isErased: IsErased;
}

/** The results of a transaction, for the log. */
export interface Accepted {
  readonly refused: readonly { readonly id: string; readonly cause: string }[];
  readonly swept: Swept;
}

/** A dead letter that the transaction of its replay has deleted. */
export interface Claimed {
  /** Rises with each dead letter. */
  readonly id: number;
  readonly message: Delivery;
  /** A later fact of its key was accepted. */
  readonly isSuperseded: boolean;
}

/** The result of a replay. A later state has replaced the state of a `superseded` fact. */
export type Replayed = "acted" | "superseded" | "not claimed";

/** Thrown when a consumer refuses a fact at its replay: the transaction must roll back. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** The name of a consumer in the inbox, in markers and in dead letters. */
export function consumerName(group: string, topic: string): string {
  return `${group} ${topic}`;
}

/** Acts on the messages that are new, and dead-letters those that the consumer refuses. */
export async function acceptNew<F>(tx: Tx, binding: Binding<F>, batch: readonly Delivery[]): Promise<Accepted> {
  const { topic, group, apply, sweep, isErased } = binding;
  const consumer = consumerName(group, topic.name);
  const carriers = batch
    .filter((message) => !isMarker(message))
    .map((message) => ({ message, identity: identifyFact(topic, message) }));
  const { fresh, hasDeadLetters } = await recordInInbox(
    tx,
    consumer,
    carriers.map(({ identity }) => identity),
  );
  const news = carriers
    // Deleted from the set, so that a fact that occurs twice in a batch acts once.
    .filter(({ identity }) => fresh.delete(identity.id))
    .map(({ message, identity }) => ({ message, identity, fact: toFact(topic, message, identity) }));
  const keyOf = ({ message }: { readonly message: Delivery }) => deadLetterKey(topic, message);

  if (hasDeadLetters) await lockDeadLetters(tx, consumer, news.map(keyOf));
  const facts = news.map(({ fact }) => fact);
  const refusals = facts.length > 0 ? ((await apply(tx, facts, undefined)) ?? []) : [];
  const causes = new Map(refusals.map(({ fact, cause }) => [fact.id, cause]));
  const isAccepted = ({ fact }: (typeof news)[number]) => !causes.has(fact.id);
  const isDeletion = (each: (typeof news)[number]) => each.fact.value === null && topic.retention.kind === "compacted";
  if (hasDeadLetters) {
    const accepted = news.filter(isAccepted);
    // States of a deleted entity are of no use, and may hold personal data.
    await deleteDeadLetters(tx, consumer, accepted.filter(isDeletion).map(keyOf));
    await markSuperseded(tx, consumer, { keys: accepted.map(keyOf) });
  }
  const refused = news.flatMap(({ message, identity }, index) => {
    const cause = causes.get(identity.id);
    if (cause === undefined) return [];
    const key = keyOf({ message });
    const later = key === "" ? [] : news.slice(index + 1).filter((each) => keyOf(each) === key && isAccepted(each));
    if (later.some(isDeletion)) return [];
    return [{ message: { ...message, key }, identity, cause, isSuperseded: later.length > 0 }];
  });
  await storeDeadLetters(tx, consumer, refused, { isErased, kinds: kindsOf(topic) });
  const markers = batch.filter(isMarker);
  const swept = markers.length > 0 ? await passMarkers(tx, { consumer, sweep }, markers) : undefined;
  return { refused: [...causes].map(([id, cause]) => ({ id, cause })), swept };
}

/** Acts on a dead letter. The inbox has it already, or has dropped it with its day. */
export async function acceptDeadLetter<F>(
  tx: Tx,
  { topic, apply, sweep, group }: Binding<F>,
  { id, message, isSuperseded }: Claimed,
): Promise<Replayed> {
  const consumer = consumerName(group, topic.name);
  if (isMarker(message)) {
    await passMarkers(tx, { consumer, sweep }, [message]);
    return "acted";
  }
  if (isSuperseded && topic.fromOutside !== undefined) {
    throw fault("fact_overtaken", "a later message about the same was accepted, which this one would undo");
  }
  if (isSuperseded && topic.retention.kind === "compacted") return "superseded";
  const identity = identifyFact(topic, message);
  await recordInInbox(tx, consumer, [identity]);
  await markSuperseded(tx, consumer, { keys: [message.key], before: id });
  const [refusal] = (await apply(tx, [toFact(topic, message, identity)], undefined)) ?? [];
  if (refusal !== undefined) throw new Refused(refusal.cause);
  return "acted";
}

/**
 * Dead-letters a message that fails whenever the consumer gets it, unless another process has acted on it meanwhile: its
 * replay would act a second time.
 */
export async function deadLetterPoison<F>(
  db: Db,
  { topic, group, isErased }: Binding<F>,
  { message, error }: { message: Delivery; error: unknown },
): Promise<void> {
  const consumer = consumerName(group, topic.name);
  const identity = identifyAnything(topic, message);
  const keyed = { ...message, key: deadLetterKey(topic, message) };
  await db.transaction(async (tx) => {
    const { fresh } = await recordInInbox(tx, consumer, [identity]);
    if (fresh.size === 0) return;
    const letter = { message: keyed, identity, cause: describeCause(error), isSuperseded: false };
    await storeDeadLetters(tx, consumer, [letter], { isErased, kinds: kindsOf(topic) });
  });
}

function kindsOf<F>({ personalData }: Topic<F>): string[] {
  return Object.keys(personalData);
}

/**
 * The key of a dead letter: later messages about the same subject have it too. It names the place that a message from outside is
 * about, which may have been sent under any key: so an erasure finds it.
 */
function deadLetterKey<F>({ fromOutside }: Topic<F>, { key, value }: Delivery): string {
  if (fromOutside === undefined || value === null) return key;
  return `${fromOutside.place(value) ?? key}#${fromOutside.subject(value)}`;
}

/** Records facts. Returns which are new, and whether the consumer has dead letters that a new one might supersede. */
async function recordInInbox(
  tx: Tx,
  consumer: string,
  facts: readonly FactIdentity[],
): Promise<{ fresh: Set<string>; hasDeadLetters: boolean }> {
  if (facts.length === 0) return { fresh: new Set(), hasDeadLetters: false };
  const rows = await tx.many<{ fact_id: string; has_dead_letters: boolean }>(sql`
    insert into inbox (fact_on, consumer, fact_id)
    select (fact.at at time zone 'UTC')::date, ${consumer}, fact.id
      from unnest(${facts.map((fact) => fact.id)}::uuid[],
                  ${facts.map((fact) => toTimestamp(fact.at))}::timestamptz[]) as fact (id, at)
        on conflict (fact_on, consumer, fact_id) do nothing
    returning inbox.fact_id,
              exists (select from dead_letter where dead_letter.consumer = ${consumer}) as has_dead_letters`);
  return { fresh: new Set(rows.map((row) => row.fact_id)), hasDeadLetters: rows[0]?.has_dead_letters === true };
}

function toFact<F>(topic: Topic<F>, { key, value, headers }: Delivery, { id, at }: FactIdentity): Fact<F> {
  if (value !== null) return { id, key, at, value: topic.decode(value), deletedAt: undefined };
  const revision = Number(headers[header.revision]);
  return { id, key, at, value, deletedAt: Number.isSafeInteger(revision) ? revision : undefined };
}

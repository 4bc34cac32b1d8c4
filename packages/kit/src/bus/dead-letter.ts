import type { Queryable, Tx } from "../pg/database.ts";
import { toNullableTimestamp, toTimestamp } from "../pg/instants.ts";
import { type Sql, sql } from "../pg/sql.ts";
import { withoutNul } from "../telemetry/describe-cause.ts";
import type { Delivery } from "./bus.ts";
import type { FactIdentity } from "./fact-id.ts";
import { header } from "./headers.ts";

/** The consumer in dead letters that never reached the bus: they are on their way out of the outbox of their service. */
export const outgoing = "outbox";

/** A message that its consumer does not accept, with the cause. */
export interface NewDeadLetter {
  readonly message: Delivery;
  readonly identity: FactIdentity;
  readonly cause: string;
  readonly isSuperseded: boolean;
}

/** The condition that one of these kinds of personal data, or any kind, was erased of what messages with a key are about. */
export type IsErased = (key: string, kinds: readonly string[] | "any") => Sql;

/** For a service from which nothing is erased. */
export const nothingErased: IsErased = () => sql`false`;

/**
 * Stores dead letters. An existing one stays unchanged.
 *
 * No letter is stored with its payload where the topic may carry a kind that was erased: the erasure deleted the letters that
 * were there. Such a letter tells an operator its key and the cause, and is not replayed.
 */
export async function storeDeadLetters(
  tx: Queryable,
  consumer: string,
  letters: readonly NewDeadLetter[],
  { isErased, kinds = "any" }: { readonly isErased: IsErased; readonly kinds?: readonly string[] | "any" },
): Promise<void> {
  for (const { message, identity, cause, isSuperseded } of letters) {
    const key = withoutNul(message.key);
    await tx.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, partition, headers, payload, is_emptied, cause, overtaken)
      select ${consumer}, ${message.topic}, ${key}, ${identity.id}::uuid,
             ${toTimestamp(identity.at)}::timestamptz, ${message.partition}::integer,
             ${JSON.stringify(ourHeaders(message))}::jsonb, case when not told.is_erased then told.payload end,
             told.is_erased and told.payload is not null,
             ${withoutNul(cause)} || case when told.is_erased then ${withoutPayload} else '' end, ${isSuperseded}::boolean
        from (select ${message.value === null ? null : Buffer.from(message.value)}::bytea as payload,
                     ${isErased(key, kinds)} as is_erased) as told
          on conflict (consumer, fact_id) do nothing`);
  }
}

const withoutPayload = "; parked without what it says, because personal data that it may carry was erased";

/** Locks dead letters of these keys, so that they are replayed before or after this transaction: not between its facts and the mark. */
export async function lockDeadLetters(tx: Tx, consumer: string, keys: readonly string[]): Promise<void> {
  await tx.run(sql`
    select dead_letter.id
      from dead_letter
     where dead_letter.consumer = ${consumer}
       and dead_letter.key = any(${toKeys(keys)}::text[])
       and not dead_letter.overtaken
     order by dead_letter.id
       for update`);
}

/** Marks dead letters of these keys, if given only those `before` an id: a later fact of the key is accepted. Those without a key are never marked. */
export async function markSuperseded(
  tx: Tx,
  consumer: string,
  { keys, before = Number.MAX_SAFE_INTEGER }: { keys: readonly string[]; before?: number },
): Promise<void> {
  await tx.run(sql`
    update dead_letter
       set overtaken = true
     where dead_letter.consumer = ${consumer}
       and dead_letter.key = any(${toKeys(keys)}::text[])
       and dead_letter.id < ${before}
       and not dead_letter.overtaken`);
}

/** Deletes dead letters of these keys; of all topics, or of one. */
export async function deleteDeadLetters(
  db: Queryable,
  consumer: string,
  keys: readonly string[],
  { topic = null }: { topic?: string | null } = {},
): Promise<void> {
  if (keys.length === 0) return;
  await db.run(sql`
    delete from dead_letter
     where dead_letter.consumer = ${consumer}
       and dead_letter.key = any(${toKeys(keys)}::text[])
       and (${topic}::text is null or dead_letter.topic = ${topic})`);
}

/** What holds the payloads, for the counts of an erasure. */
export const payloads = "dead_letter.payload";

/**
 * Deletes the dead letters of these topics whose keys begin with one of these texts, if given only those that were parked
 * before an instant, in microseconds since 1970, and returns how many.
 */
export async function deleteDeadLettersOf(
  tx: Queryable,
  keys: readonly string[],
  topics: readonly string[],
  { parkedBefore = null }: { readonly parkedBefore?: number | null } = {},
): Promise<number> {
  return tx.run(sql`
    delete from dead_letter
     where dead_letter.topic = any(${topics}::text[])
       and dead_letter.parked_at < coalesce(${toNullableTimestamp(parkedBefore)}::timestamptz, 'infinity')
       and exists (select from unnest(${keys}::text[]) as wanted (beginning)
                    where starts_with(dead_letter.key, wanted.beginning))`);
}

function toKeys(keys: readonly string[]): string[] {
  return keys.filter((key) => key !== "").map(withoutNul);
}

/** Messages from outside may have headers of any size. */
const longestHeader = 200;

function ourHeaders({ headers }: Delivery): Record<string, string> {
  const names: readonly string[] = Object.values(header);
  const ours = Object.entries(headers).filter(([name, text]) => names.includes(name) && text.length <= longestHeader);
  return Object.fromEntries(ours.map(([name, text]) => [name, withoutNul(text)]));
}

import type { Queryable, Tx } from "../pg/database.ts";
import { isErased } from "../pg/erased-kinds.ts";
import { toNullableTimestamp, toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
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

/**
 * Stores dead letters. An existing one stays unchanged.
 *
 * Of an event with erased data no letter is stored with its payload where the topic may carry a kind that was erased: the
 * erasure deleted the letters that were there. Such a letter tells an operator its key and the cause, and is not replayed.
 */
export async function storeDeadLetters(
  tx: Queryable,
  consumer: string,
  letters: readonly NewDeadLetter[],
  { kinds = "any" }: { readonly kinds?: readonly string[] | "any" } = {},
): Promise<void> {
  for (const { message, identity, cause, isSuperseded } of letters) {
    const { organizer, event } = eventOf(withoutNul(message.key));
    const place = { organizer: sql`${organizer}`, event: sql`${event}` };
    await tx.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, partition, headers, payload, is_emptied, cause, overtaken)
      select ${consumer}, ${message.topic}, ${withoutNul(message.key)}, ${identity.id}::uuid,
             ${toTimestamp(identity.at)}::timestamptz, ${message.partition}::integer,
             ${JSON.stringify(ourHeaders(message))}::jsonb, case when not told.is_erased then told.payload end,
             told.is_erased and told.payload is not null,
             ${withoutNul(cause)} || case when told.is_erased then ${withoutPayload} else '' end, ${isSuperseded}::boolean
        from (select ${message.value === null ? null : Buffer.from(message.value)}::bytea as payload,
                     ${isErased(place, kinds)} as is_erased) as told
          on conflict (consumer, fact_id) do nothing`);
  }
}

const withoutPayload = "; parked without what it says, because personal data of the event was erased";

/** The event that a key is of; what a message from outside is about stands behind it. */
function eventOf(key: string): { readonly organizer: string; readonly event: string } {
  const [organizer = "", rest = ""] = key.split("/", 2);
  return { organizer, event: rest.split("#", 1)[0] ?? "" };
}

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
 * Deletes the dead letters of an event and of these topics, if given only those that were parked before an instant, in microseconds
 * since 1970, and returns how many. Their keys are those of its entities, or its own with what a message from outside is about.
 */
export async function deleteDeadLettersOf(
  tx: Queryable,
  { organizer, event }: ReturnType<typeof eventOf>,
  topics: readonly string[],
  { parkedBefore = null }: { readonly parkedBefore?: number | null } = {},
): Promise<number> {
  return tx.run(sql`
    delete from dead_letter
     where dead_letter.topic = any(${topics}::text[])
       and dead_letter.parked_at < coalesce(${toNullableTimestamp(parkedBefore)}::timestamptz, 'infinity')
       and (starts_with(dead_letter.key, ${`${organizer}/${event}/`})
            or starts_with(dead_letter.key, ${`${organizer}/${event}#`}))`);
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

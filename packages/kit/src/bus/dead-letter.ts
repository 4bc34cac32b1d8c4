import { withoutNul } from "../describe-cause.ts";
import type { Queryable, Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import type { Delivery } from "./bus.ts";
import type { FactIdentity } from "./fact-id.ts";
import { header } from "./headers.ts";

/** A message that its consumer does not take, and why. */
export interface Parking {
  readonly message: Delivery;
  readonly identity: FactIdentity;
  readonly cause: string;
  readonly overtaken: boolean;
}

/** Sets messages aside; one that is there already stays as it is. */
export async function park(tx: Queryable, consumer: string, parked: readonly Parking[]): Promise<void> {
  for (const { message, identity, cause, overtaken } of parked) {
    await tx.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, partition, headers, payload, cause, overtaken)
      values (${consumer}, ${message.topic}, ${withoutNul(message.key)}, ${identity.id},
              ${toTimestamp(identity.at)}::timestamptz, ${message.partition}, ${JSON.stringify(ourHeaders(message))}::jsonb,
              ${message.value === null ? null : Buffer.from(message.value)}, ${withoutNul(cause)}, ${overtaken})
          on conflict (consumer, fact_id) do nothing`);
  }
}

/** Holds what is parked of these keys: it is replayed before or after, never between what comes behind it and the mark. */
export async function holdParked(tx: Tx, consumer: string, keys: readonly string[]): Promise<void> {
  await tx.run(sql`
    select dead_letter.id
      from dead_letter
     where dead_letter.consumer = ${consumer}
       and dead_letter.key = any(${keyed(keys)}::text[])
       and not dead_letter.overtaken
     order by dead_letter.id
       for update`);
}

/** Marks what is parked of these keys, before a certain one if given: a later fact of each is accepted. What has no key is never overtaken. */
export async function markOvertaken(
  tx: Tx,
  consumer: string,
  { keys, before = Number.MAX_SAFE_INTEGER }: { keys: readonly string[]; before?: number },
): Promise<void> {
  await tx.run(sql`
    update dead_letter
       set overtaken = true
     where dead_letter.consumer = ${consumer}
       and dead_letter.key = any(${keyed(keys)}::text[])
       and dead_letter.id < ${before}
       and not dead_letter.overtaken`);
}

function keyed(keys: readonly string[]): string[] {
  return keys.filter((key) => key !== "").map(withoutNul);
}

/** Strangers may send headers of any size. */
const longestHeader = 200;

function ourHeaders({ headers }: Delivery): Record<string, string> {
  const names: readonly string[] = Object.values(header);
  const ours = Object.entries(headers).filter(([name, text]) => names.includes(name) && text.length <= longestHeader);
  return Object.fromEntries(ours.map(([name, text]) => [name, withoutNul(text)]));
}

import { mostMessageBytes } from "@tessera/protos/topic";
import { currentContext } from "../context.ts";
import { fault } from "../faults.ts";
import { toByteaArray } from "./binary-array.ts";
import { sparseColumn } from "./sparse-column.ts";
import { type Sql, sql } from "./sql.ts";

export interface OutboxFact {
  readonly key: string;
  /** Null: a tombstone. */
  readonly payload: Uint8Array | null;
  /** By default a new one; a fact that is published again keeps its id. */
  readonly id?: string;
  /** By default that of the current request, so that the effects of a fact belong to the same trace. */
  readonly traceparent?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Headers, and what a bus adds to a message. */
const overheadBytes = 4096;

/**
 * An insert of facts into the outbox, to run alone or in a `with`. The relay is woken after the statement that contains
 * it. `among` may join rows by `fact.ord`, the position of a fact in the list from 1 on, to select facts. A fact that no
 * topic can carry is refused here, together with the change that it is about.
 *
 * A fact has the time of its transaction, which its owner stores, too: published again, it has that time. A tombstone has the current
 * one: what others made while the transaction waited was made before the deletion.
 */
export function outboxRows(
  topic: string,
  facts: readonly OutboxFact[],
  { among = sql`` }: { readonly among?: Sql } = {},
): Sql {
  for (const fact of facts) requireSize(topic, fact);
  const { traceparent = null } = currentContext();
  const traceparents = facts.map((fact) => (fact.traceparent === undefined ? traceparent : fact.traceparent));
  return sql`
    insert into outbox (fact_id, topic, key, payload, traceparent, created_at, headers)
    select coalesce(fact.id, gen_random_uuid()), ${topic}, fact.key, fact.payload, fact.traceparent,
           case when fact.payload is null then clock_timestamp() else now() end, fact.headers
      from unnest(${sparseColumn(facts.map(({ id }) => id))}::uuid[],
                  ${facts.map((fact) => fact.key)}::text[],
                  ${toByteaArray(facts.map((fact) => fact.payload))}::bytea[],
                  ${sparseColumn(traceparents)}::text[],
                  ${sparseColumn(facts.map(({ headers }) => headers && JSON.stringify(headers)))}::jsonb[])
           with ordinality as fact (id, key, payload, traceparent, headers, ord)
      ${among}
     order by fact.ord`;
}

function requireSize(topic: string, { key, payload }: OutboxFact): void {
  const bytes = (payload?.byteLength ?? 0) + Buffer.byteLength(key) + overheadBytes;
  if (bytes <= mostMessageBytes) return;
  const [size, limit] = [bytes, mostMessageBytes].map((each) => `${(each / 1024 / 1024).toFixed(1)} MiB`);
  throw fault(
    "fact_too_large",
    `it is too large: as a message of ${topic} it has ${size}, and at most ${limit} are published`,
  );
}

/** Whether a statement writes facts, so that the relay must be woken. */
export function writesOutbox(text: string): boolean {
  return text.includes("insert into outbox");
}

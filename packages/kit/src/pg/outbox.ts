import { currentContext } from "../context.ts";
import { toByteaArray } from "./binary-array.ts";
import { sparseColumn } from "./sparse-column.ts";
import { type Sql, sql } from "./sql.ts";

/** A fact on its way into the outbox. */
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

/**
 * An insert of facts into the outbox, to run alone or in a `with`. The relay is woken after the statement that contains
 * it. `among` may join rows by `fact.ord`, the position of a fact in the list from 1 on, to select facts.
 */
export function outboxRows(
  topic: string,
  facts: readonly OutboxFact[],
  { among = sql`` }: { readonly among?: Sql } = {},
): Sql {
  const { traceparent = null } = currentContext();
  const traceparents = facts.map((fact) => (fact.traceparent === undefined ? traceparent : fact.traceparent));
  return sql`
    insert into outbox (fact_id, topic, key, payload, traceparent, headers)
    select coalesce(fact.id, gen_random_uuid()), ${topic}, fact.key, fact.payload, fact.traceparent, fact.headers
      from unnest(${sparseColumn(facts.map(({ id }) => id))}::uuid[],
                  ${facts.map((fact) => fact.key)}::text[],
                  ${toByteaArray(facts.map((fact) => fact.payload))}::bytea[],
                  ${sparseColumn(traceparents)}::text[],
                  ${sparseColumn(facts.map(({ headers }) => headers && JSON.stringify(headers)))}::jsonb[])
           with ordinality as fact (id, key, payload, traceparent, headers, ord)
      ${among}
     order by fact.ord`;
}

/** Whether a statement writes facts, so that the relay must be woken. */
export function writesOutbox(text: string): boolean {
  return text.includes("insert into outbox");
}

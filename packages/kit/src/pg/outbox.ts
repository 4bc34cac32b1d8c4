import { currentContext } from "../context.ts";
import { toByteaArray } from "./binary-array.ts";
import { sparseColumn } from "./sparse-column.ts";
import { type Sql, sql } from "./sql.ts";

/** A fact on its way into the outbox. */
export interface OutboxFact {
  readonly key: string;
  /** Null: a tombstone. */
  readonly payload: Uint8Array | null;
  /** A new one, unless the fact was published before. */
  readonly id?: string;
  /** By default that of the request under way, so that the effects of a fact join the request that caused it. */
  readonly traceparent?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An insert of facts into the outbox, to run alone or in a `with`: the relay is woken after the statement that contains
 * it. `among` may join the rows whose facts are meant, by `fact.ord`, a fact's place in the list from 1 on.
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

/** Whether a statement writes facts, and the relay has work after it. */
export function writesOutbox(text: string): boolean {
  return text.includes("insert into outbox");
}

import { toByteaArray } from "@tessera/kit/pg/binary-array";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { sparseColumn } from "./sparse-column.ts";

/** An encoded fact, as it is in the outbox. */
export interface FactRow {
  /** The same whenever the fact is published, so that consumers act on it once. */
  readonly id: string;
  readonly key: string;
  readonly payload: Uint8Array;
  readonly traceparent?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Inserts facts into the outbox, in their order. `among` may join those that are meant by `fact.ord`, which counts from
 * 1. The caller wakes the relay, with `wroteOutbox`, when this is committed.
 */
export function insertFacts(
  topic: string,
  { facts, among = sql`` }: { readonly facts: readonly FactRow[]; readonly among?: Sql },
): Sql {
  return sql`
      insert into outbox (fact_id, topic, key, payload, traceparent, headers)
      select fact.id, ${topic}, fact.key, fact.payload, fact.traceparent, fact.headers
        from unnest(${facts.map((fact) => fact.id)}::uuid[],
                    ${facts.map((fact) => fact.key)}::text[],
                    ${toByteaArray(facts.map((fact) => fact.payload))}::bytea[],
                    ${sparseColumn(facts.map((fact) => fact.traceparent))}::text[],
                    ${sparseColumn(facts.map(({ headers }) => headers && JSON.stringify(headers)))}::jsonb[])
             with ordinality as fact (id, key, payload, traceparent, headers, ord)
        ${among}
       order by fact.ord`;
}

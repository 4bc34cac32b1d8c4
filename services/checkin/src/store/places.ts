import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { Term } from "./position-order.ts";

/** What a ticket has for a term of an order. An instant is the text that Postgres writes for it. */
export type Value = string | number | boolean | null;

/** A place in an order: what a ticket that is, or was, there has for each of its terms. */
export type Place = readonly Value[];

/** Selects what tickets have for the terms of an order, as `by0`, `by1` and so on. */
export function selectPlace(terms: readonly Term[]): Sql {
  return joinSql(
    terms.map(
      ({ by, isInstant }, index) => sql`${isInstant === true ? sql`${by}::text` : by} as ${identifier(`by${index}`)}`,
    ),
    ", ",
  );
}

/** Takes the place out of a row of which it was selected. */
export function toPlace(row: Readonly<Record<string, Value>>, terms: readonly Term[]): Place {
  return terms.map((_, index) => row[`by${index}`] ?? null);
}

/**
 * Writes the condition that `ticket` comes behind a place. Terms that all tickets have something for are compared at once,
 * or the first of them beside all others: so an index leads to the place.
 */
export function isBehind(terms: readonly Term[], place: Place): Sql {
  const pairs = terms.map((term, index) => ({ term, value: place[index] ?? null }));
  const [first] = pairs;
  if (first === undefined) return sql`false`;
  const isPlain = pairs.every(
    ({ term }) => term.isOptional !== true && isDescending(term) === isDescending(first.term),
  );
  if (isPlain) {
    const [names, values] = [pairs.map(({ term }) => term.by), pairs.map(bound)];
    return sql`(${joinSql(names, ", ")}) ${isDescending(first.term) ? sql`<` : sql`>`} (${joinSql(values, ", ")})`;
  }
  const behind = behindOneOf(pairs);
  if (first.term.isOptional === true) return behind;
  return sql`${first.term.by} ${isDescending(first.term) ? sql`<=` : sql`>=`} ${bound(first)} and ${behind}`;
}

interface Pair {
  readonly term: Term;
  readonly value: Value;
}

function behindOneOf([first, ...others]: readonly Pair[]): Sql {
  if (first === undefined) return sql`false`;
  const further = isFurther(first);
  if (others.length === 0) return further;
  return sql`(${further} or ${isEqual(first)} and ${behindOneOf(others)})`;
}

function isFurther(pair: Pair): Sql {
  const { term, value } = pair;
  const { by, descending = false, nullsFirst = descending, isOptional = false } = term;
  if (value === null) return nullsFirst ? sql`${by} is not null` : sql`false`;
  const further = sql`${by} ${descending ? sql`<` : sql`>`} ${bound(pair)}`;
  return isOptional && !nullsFirst ? sql`(${further} or ${by} is null)` : further;
}

function isEqual(pair: Pair): Sql {
  return pair.value === null ? sql`${pair.term.by} is null` : sql`${pair.term.by} = ${bound(pair)}`;
}

function bound({ term, value }: Pair): Sql {
  return term.isInstant === true ? sql`${value}::timestamptz` : sql`${value}`;
}

function isDescending({ descending = false }: Term): boolean {
  return descending;
}

import type { Queryable } from "./queryable.ts";
import { identifier, joinSql, type Sql, sql } from "./sql.ts";

/** What rows are sorted by. */
export interface Term {
  readonly by: Sql;
  readonly descending?: boolean;
  /** By default nulls come last, and first where the order is descending. */
  readonly nullsFirst?: boolean;
  /** May be null. */
  readonly isOptional?: boolean;
  readonly isInstant?: boolean;
}

/** Rows, each with an id, and what they are sorted by. */
export interface Source {
  readonly id: Sql;
  readonly from: Sql;
  readonly where: Sql;
  readonly terms: readonly Term[];
}

/** Rows that all come before or behind those of the other parts. Their sources are merged, and have terms of the same directions. */
export interface Part {
  readonly sources: readonly Source[];
  /** The first terms have one value in the whole part; otherwise the first one is never null. */
  readonly fixed?: Fixed;
  /** How many rows it has, if that is known. */
  readonly count?: number;
}

interface Fixed {
  readonly terms: number;
  readonly value: number | null;
  /** The same value as a column, where the index of the part begins with it. */
  readonly by?: Sql;
}

/** A keyset cursor: the sort values of a row. An instant is the text that PostgreSQL writes for it. */
export type Place = readonly (string | number | null)[];

export interface Cut {
  readonly limit: number;
  readonly offset: number;
}

/** Reverses the direction of a sort key. */
export function turned({ descending = false, nullsFirst = descending, ...same }: Term): Term {
  return { ...same, descending: !descending, nullsFirst: !nullsFirst };
}

/** Reads the ids of a page by its number, from the nearer end; `count` is that of all rows. */
export async function readPage<Id = number>(
  db: Queryable,
  parts: readonly Part[],
  { offset, count, ...cut }: Cut & { readonly count: number },
): Promise<Id[]> {
  const limit = Math.min(cut.limit, count - offset);
  if (limit <= 0) return [];
  const behind = count - offset - limit;
  if (offset <= behind) return readFrom(db, parts, { limit, offset });
  return (await readFrom<Id>(db, parts.map(turnedPart).reverse(), { limit, offset: behind })).reverse();
}

/** Reads the ids of the first rows behind a cursor. */
export async function readBehind<Id = number>(
  db: Queryable,
  parts: readonly Part[],
  { place, limit }: { readonly place: Place; readonly limit: number },
): Promise<Id[]> {
  return readFrom(
    db,
    parts.flatMap((part) => behind(part, place) ?? []),
    { limit, offset: 0 },
  );
}

/**
 * Reads pages by indexes that have the order, also where statistics of the table are old: a plan that sorts all rows would take
 * seconds. It counts in a transaction.
 */
export async function alongIndexes<T>(tx: Queryable, read: () => Promise<T>): Promise<T> {
  const allowSorts = (setting: "on" | "off") => tx.run(sql`select set_config('enable_sort', ${setting}, true)`);
  await allowSorts("off");
  const found = await read();
  await allowSorts("on");
  return found;
}

/** Reads the ids of a page of few rows: all of them are sorted, however an index could have led to the first ones. */
export async function sortPage(
  db: Queryable,
  { id, from, where, terms }: Source,
  { limit, offset }: Cut,
): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    with found as materialized (
      select ${id} as id, ${selectTerms(terms)}
        from ${from}
       where ${where}
    )
    select found.id
      from found
     order by ${orderBy(named(terms, sql`found`))}
     limit ${limit} offset ${offset}`);
  return rows.map((row) => row.id);
}

/** Selects what rows are sorted by, as `by0`, `by1` and so on. */
function selectTerms(terms: readonly Term[]): Sql {
  return joinSql(
    terms.map(({ by }, index) => sql`${by} as ${numbered(index)}`),
    ", ",
  );
}

/** Selects the cursor of a row, as an array of texts and numbers in JSON. */
export function selectPlace(terms: readonly Term[]): Sql {
  const values = terms.map(({ by, isInstant }) => (isInstant === true ? sql`${by}::text` : by));
  return sql`json_build_array(${joinSql(values, ", ")})`;
}

function orderBy(terms: readonly Term[]): Sql {
  return joinSql(terms.map(directed), ", ");
}

/** Where nothing is null, an index need not say where that is. */
function directed({ by, descending = false, nullsFirst = descending, isOptional = false }: Term): Sql {
  const direction = descending ? sql` desc` : sql``;
  if (!isOptional || nullsFirst === descending) return sql`${by}${direction}`;
  return sql`${by}${direction} nulls ${nullsFirst ? sql`first` : sql`last`}`;
}

/** The rows of a part that are skipped are counted only where it ends before the page. */
async function readFrom<Id>(db: Queryable, parts: readonly Part[], { limit, offset }: Cut): Promise<Id[]> {
  const ids: Id[] = [];
  let skip = offset;
  for (const [index, part] of parts.entries()) {
    const wanted = limit - ids.length;
    if (part.count !== undefined && skip >= part.count) {
      skip -= part.count;
      continue;
    }
    const rows = await db.many<{ id: Id }>(statementOf(part, { limit: wanted, offset: skip }));
    ids.push(...rows.map(({ id }) => id));
    if (ids.length === limit || index === parts.length - 1) break;
    if (rows.length > 0) skip = 0;
    if (skip > 0) skip -= await countPart(db, part);
  }
  return ids;
}

function statementOf(part: Part, { limit, offset }: Cut): Sql {
  const [first, ...others] = part.sources;
  if (first === undefined) throw new Error("a part of an order has no source");
  if (others.length === 0) return sql`${selectSorted(part, first)} limit ${limit} offset ${offset}`;
  const sorted = part.sources.map((source) => sql`(${selectSorted(part, source)} limit ${limit + offset})`);
  return sql`
    select page.id
      from (${joinSql(sorted, " union all ")}) as page
     order by ${orderBy(named(varying(part, first), sql`page`))}
     limit ${limit} offset ${offset}`;
}

function selectSorted(part: Part, source: Source): Sql {
  const terms = varying(part, source);
  const { by } = part.fixed ?? {};
  // One value has any direction: with that of the next term, an index has both.
  const order = by === undefined ? terms : [{ by, descending: terms[0]?.descending === true }, ...terms];
  const columns = part.sources.length === 1 ? sql`` : sql`, ${selectTerms(terms)}`;
  return sql`
      select ${source.id} as id${columns}
        from ${source.from}
       where ${source.where}
       order by ${orderBy(order)}`;
}

export async function countPart(db: Queryable, { sources }: Part): Promise<number> {
  const counts = sources.map(({ from, where }) => sql`(select count(*) from ${from} where ${where})`);
  const { count } = await db.one<{ count: number }>(sql`select ${joinSql(counts, " + ")} as count`);
  return count;
}

function varying({ fixed }: Part, { terms }: Source): readonly Term[] {
  return terms.slice(fixed?.terms ?? 0);
}

function turnedPart(part: Part): Part {
  return { ...part, sources: part.sources.map((source) => ({ ...source, terms: source.terms.map(turned) })) };
}

function numbered(index: number): Sql {
  return identifier(`by${index}`);
}

function named(terms: readonly Term[], row: Sql): readonly Term[] {
  return terms.map((term, index) => ({ ...term, by: sql`${row}.${numbered(index)}` }));
}

/** The rows of a part that come behind a cursor; undefined: no row does. */
function behind(part: Part, place: Place): Part | undefined {
  const [first] = part.sources[0]?.terms ?? [];
  if (first === undefined) return undefined;
  const { fixed } = part;
  const [value = null] = place;
  if (fixed === undefined && value === null) return nullsFirstOf(first) ? part : undefined;
  if (fixed !== undefined && fixed.value !== value) return comesBehind(first, fixed.value, value) ? part : undefined;
  const sources = part.sources.map((source) => {
    const pairs = varying(part, source).map((term, index) => ({
      term,
      value: place[index + (fixed?.terms ?? 0)] ?? null,
    }));
    return { ...source, where: sql`${source.where} and ${isBehind(pairs)}` };
  });
  return { ...part, sources };
}

/** Whether the one of two different values comes behind the other. */
function comesBehind(term: Term, one: number | null, other: string | number | null): boolean {
  if (one === null || other === null) return (one === null) !== nullsFirstOf(term);
  return one > Number(other) !== (term.descending ?? false);
}

function nullsFirstOf({ descending = false, nullsFirst = descending }: Term): boolean {
  return nullsFirst;
}

interface Pair {
  readonly term: Term;
  readonly value: string | number | null;
}

/** Written so that an index leads to the cursor: as a comparison of rows, or with a bound for the first term. */
function isBehind(pairs: readonly Pair[]): Sql {
  const [first] = pairs;
  if (first === undefined) return sql`false`;
  const { descending = false } = first.term;
  const isPlain = ({ term }: Pair) => term.isOptional !== true && (term.descending ?? false) === descending;
  if (pairs.every(isPlain)) {
    const columns = pairs.map(({ term }) => term.by);
    return sql`(${joinSql(columns, ", ")}) ${descending ? sql`<` : sql`>`} (${joinSql(pairs.map(bound), ", ")})`;
  }
  if (first.value === null || first.term.isOptional === true) return behindOneOf(pairs);
  return sql`${first.term.by} ${descending ? sql`<=` : sql`>=`} ${bound(first)} and ${behindOneOf(pairs)}`;
}

function behindOneOf([first, ...others]: readonly Pair[]): Sql {
  if (first === undefined) return sql`false`;
  if (others.length === 0) return isFurther(first);
  const isEqual = first.value === null ? sql`${first.term.by} is null` : sql`${first.term.by} = ${bound(first)}`;
  return sql`(${isFurther(first)} or ${isEqual} and ${behindOneOf(others)})`;
}

function isFurther(pair: Pair): Sql {
  const { term, value } = pair;
  if (value === null) return nullsFirstOf(term) ? sql`${term.by} is not null` : sql`false`;
  const further = sql`${term.by} ${term.descending === true ? sql`<` : sql`>`} ${bound(pair)}`;
  return term.isOptional === true && !nullsFirstOf(term) ? sql`(${further} or ${term.by} is null)` : further;
}

function bound({ term, value }: Pair): Sql {
  return term.isInstant === true ? sql`${value}::timestamptz` : sql`${value}`;
}

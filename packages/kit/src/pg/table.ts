import { toByteaArray } from "./binary-array.ts";
import type { Queryable } from "./database.ts";
import { toNullableTimestamp } from "./instants.ts";
import { identifier, joinSql, type Sql, sql } from "./sql.ts";

/** How the values of one column travel: those of many rows together, as one array parameter. */
export interface Column<T> {
  /** The array parameter with its type. */
  send(values: readonly T[]): Sql;
  /** What is stored of a sent element; the element itself when left out. */
  readonly convert?: (element: Sql) => Sql;
  /** Columns of instants end with it. */
  readonly suffix?: string;
  /** The same column where a row may have no value. */
  readonly orNull: Column<T | null>;
}

/** Keeps the null of a nullable column from the conversion, which is for values. */
const column = <T>(parts: {
  readonly send: (values: readonly (T | null)[]) => Sql;
  readonly convert?: (element: Sql) => Sql;
  readonly suffix?: string;
}): Column<T> => ({
  ...parts,
  get orNull() {
    return column<T | null>(parts);
  },
});

export const text: Column<string> = column({ send: (values) => sql`${values}::text[]` });
export const bigint: Column<number> = column({ send: (values) => sql`${values}::bigint[]` });
export const boolean: Column<boolean> = column({ send: (values) => sql`${values}::boolean[]` });

/** Microseconds since 1970; the column's name ends with `_at`. */
export const instant: Column<number> = column({
  send: (values) => sql`${values.map(toNullableTimestamp)}::timestamptz[]`,
  suffix: "_at",
});

export const bytea: Column<Uint8Array> = column({ send: (values) => sql`${toByteaArray(values)}::bytea[]` });

/** JSON in UTF-8, as messages carry documents; without any bytes it is an empty object. */
export const document: Column<Uint8Array> = column({
  send: (values) =>
    sql`${values.map((bytes) => (bytes === null || bytes.length === 0 ? "{}" : utf8.decode(bytes)))}::jsonb[]`,
});

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A value that is kept as JSON. */
export const json = <T>(): Column<T> =>
  column<T>({
    send: (values) => sql`${values.map((value) => (value === null ? null : JSON.stringify(value)))}::jsonb[]`,
  });

/** Arrays cannot be elements of arrays of other lengths, so they travel as JSON. */
const list = <T>(type: Sql): Column<readonly T[]> => ({
  ...json<readonly T[]>(),
  convert: (element) => sql`array(select jsonb_array_elements_text(${element}))::${type}`,
});

export const bigints: Column<readonly number[]> = list<number>(sql`bigint[]`);
export const texts: Column<readonly string[]> = list<string>(sql`text[]`);

/** Columns by the property that they hold. */
export type Columns = Readonly<Record<string, Column<never>>>;

type ValueOf<C> = C extends Column<infer T> ? T : never;

/** A row as it is read. */
export type RowOf<C> = { readonly [P in keyof C]: ValueOf<C[P]> };

/** A row as it is stored: what may be null may be left out, as messages leave it out. */
export type InputOf<C> = {
  readonly [P in keyof C as null extends ValueOf<C[P]> ? never : P]: ValueOf<C[P]>;
} & { readonly [P in keyof C as null extends ValueOf<C[P]> ? P : never]?: ValueOf<C[P]> | undefined };

/** What a table is: its key and its other columns. The names of columns are those of properties in snake case. */
export interface TableOptions<K extends Columns, C extends Columns> {
  readonly key: K;
  readonly columns: C;
}

/** A table whose statements follow from its columns. */
export interface Table<Key, Input, Row> {
  readonly name: string;
  /** The properties that its key consists of. */
  readonly key: readonly (keyof Key & string)[];
  /** Every column, qualified with the name of the table. */
  readonly selected: Sql;
  /** Gives a row that was read by `selected` the names of its properties. */
  toRow(row: Readonly<Record<string, unknown>>): Row;
  /** Inserts rows, or replaces what has their key. No key may occur twice. */
  upsert(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** The same, where that changes anything; returns how many rows it changed. */
  upsertChanged(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** Returns how many rows it deleted. */
  delete(db: Queryable, keys: readonly Key[]): Promise<number>;
}

/** A table of copies of entities that another service owns. A copy has the revision of its state. */
export interface CopyTable<Key, Input, Row> extends Table<Key, Input, Row> {
  /** Inserts states, or replaces older ones. No key may occur twice. */
  upsertNewer(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** Deletes what is older than a revision; returns how many those were. */
  deleteOlder(db: Queryable, revision: number): Promise<number>;
}

export interface Revised {
  readonly revision: typeof bigint;
}

/** Declares a table. */
export function table<K extends Columns, C extends Columns>(
  name: string,
  options: TableOptions<K, C>,
): Table<InputOf<K>, InputOf<K & C>, RowOf<K & C>> {
  return declare(name, options);
}

/** Declares a table of copies; `revision` is one of its columns. */
export function copyTable<K extends Columns, C extends Columns>(
  name: string,
  { key, columns }: TableOptions<K, C>,
): CopyTable<InputOf<K>, InputOf<K & C & Revised>, RowOf<K & C & Revised>> {
  return declare(name, { key, columns: { ...columns, revision: bigint } });
}

/** The types above say which rows and keys are meant; the statements are the same for all. */
function declare<Key extends object, Input extends object, Row>(
  name: string,
  { key, columns }: { readonly key: Columns; readonly columns: Columns },
): CopyTable<Key, Input, Row> {
  const all: Columns = { ...key, ...columns };
  const id = identifier(name);
  const excluded = sql`excluded`;
  const list = (names: readonly string[], alias?: Sql) =>
    joinSql(
      names.map((each) => (alias === undefined ? identifier(each) : sql`${alias}.${identifier(each)}`)),
      ", ",
    );
  const [allNames, keyNames, otherNames] = [namesOf(all), namesOf(key), namesOf(columns)];
  const stored = Object.values(all).map(({ convert = (element) => element }, at) =>
    convert(sql`sent.${identifier(allNames[at] ?? "")}`),
  );
  const assigned = otherNames.map((each) => sql`${identifier(each)} = excluded.${identifier(each)}`);
  const hasKey = keyNames.map((each) => sql`${id}.${identifier(each)} = sent.${identifier(each)}`);

  async function upsertWhere(db: Queryable, rows: readonly object[], condition: Sql): Promise<number> {
    if (rows.length === 0) return 0;
    return db.run(sql`
      insert into ${id} (${list(allNames)})
      select ${joinSql(stored, ", ")} from unnest(${send(all, rows)}) as sent (${list(allNames)})
          on conflict (${list(keyNames)}) do update set ${joinSql(assigned, ", ")}${condition}`);
  }

  return {
    name,
    key: Object.keys(key) as (keyof Key & string)[],
    selected: list(allNames, id),
    toRow: (row) =>
      Object.fromEntries(Object.keys(all).map((property, at) => [property, row[allNames[at] ?? ""]])) as Row,
    upsert: (db, rows) => upsertWhere(db, rows, sql``),
    upsertChanged: (db, rows) =>
      upsertWhere(db, rows, sql` where (${list(otherNames, id)}) is distinct from (${list(otherNames, excluded)})`),
    upsertNewer: (db, rows) => upsertWhere(db, rows, sql` where ${id}.revision < excluded.revision`),
    async delete(db, keys) {
      if (keys.length === 0) return 0;
      return db.run(sql`
        delete from ${id}
         using unnest(${send(key, keys)}) as sent (${list(keyNames)})
         where ${joinSql(hasKey, " and ")}`);
    },
    deleteOlder: (db, revision) => db.run(sql`delete from ${id} where ${id}.revision < ${revision}`),
  };
}

/**
 * Writes rows as a table of a statement, `unnest(…) as alias (…)`, with one array parameter per column. Numbered rows
 * have their place in the column `ord`, from 1 on.
 */
export function rowsAs<C extends Columns>(
  alias: string,
  columns: C,
  rows: readonly InputOf<C>[],
  { isNumbered = false }: { readonly isNumbered?: boolean } = {},
): Sql {
  const names = [...namesOf(columns), ...(isNumbered ? ["ord"] : [])].map(identifier);
  const ordinality = isNumbered ? sql` with ordinality` : sql``;
  return sql`unnest(${send(columns, rows)})${ordinality} as ${identifier(alias)} (${joinSql(names, ", ")})`;
}

function namesOf(columns: Columns): readonly string[] {
  return Object.entries(columns).map(([property, { suffix = "" }]) => {
    const name = property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return `_${name}`.endsWith(suffix) ? name : `${name}${suffix}`;
  });
}

function send(columns: Columns, rows: readonly object[]): Sql {
  const parameters = Object.entries(columns).map(([property, { send }]) =>
    send(rows.map((row) => (row as Readonly<Record<string, never>>)[property] ?? (null as never))),
  );
  return joinSql(parameters, ", ");
}

import { toByteaArray, toTextArray } from "./binary-array.ts";
import type { Queryable } from "./database.ts";
import { toNullableTimestamp } from "./instants.ts";
import { identifier, joinSql, type Sql, sql } from "./sql.ts";
import { isPlacedIn, withKey } from "./with-key.ts";

/** How the values of one column are sent: the values of all rows in one array parameter. */
export interface Column<T> {
  /** The array parameter with its type. */
  send(values: readonly T[]): Sql;
  /** The stored value for a sent element; by default the element. */
  readonly convert?: (element: Sql) => Sql;
  /** The end of the column's name. */
  readonly suffix?: string;
  /** The same column, nullable. */
  readonly orNull: Column<T | null>;
}

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

export const text: Column<string> = column({ send: (values) => sql`${toTextArray(values)}::text[]` });
export const bigint: Column<number> = column({ send: (values) => sql`${values}::bigint[]` });
export const boolean: Column<boolean> = column({ send: (values) => sql`${values}::boolean[]` });

export const double: Column<number> = column({ send: (values) => sql`${values}::double precision[]` });

/** A decimal as text, with the places of its column. */
export const decimal: Column<string> = column({ send: (values) => sql`${values}::numeric[]` });

/** Microseconds since 1970; the column's name ends with `_at`. */
export const instant: Column<number> = column({
  send: (values) => sql`${values.map(toNullableTimestamp)}::timestamptz[]`,
  suffix: "_at",
});

export const uuid: Column<string> = column({ send: (values) => sql`${values}::uuid[]` });

export const bytea: Column<Uint8Array> = column({ send: (values) => sql`${toByteaArray(values)}::bytea[]` });

/** JSON in UTF-8, the form of documents in messages; no bytes mean an empty object. */
export const document: Column<Uint8Array> = column({
  send: (values) =>
    sql`${values.map((bytes) => (bytes === null || bytes.length === 0 ? "{}" : utf8.decode(bytes)))}::jsonb[]`,
});

const utf8 = new TextDecoder("utf-8", { fatal: true });

export const json = <T>(): Column<T> =>
  column<T>({
    send: (values) => sql`${values.map((value) => (value === null ? null : JSON.stringify(value)))}::jsonb[]`,
  });

/** An array of arrays needs elements of equal length, so these are sent as JSON. */
const list = <T>(type: Sql): Column<readonly T[]> => ({
  ...json<readonly T[]>(),
  convert: (element) => sql`array(select jsonb_array_elements_text(${element}))::${type}`,
});

export const bigints: Column<readonly number[]> = list<number>(sql`bigint[]`);
export const texts: Column<readonly string[]> = list<string>(sql`text[]`);

/** Columns by the name of their property. */
export type Columns = Readonly<Record<string, Column<never>>>;

type ValueOf<C> = C extends Column<infer T> ? T : never;

export type RowOf<C> = { readonly [P in keyof C]: ValueOf<C[P]> };

/** A row to store. Nullable properties may be missing, as in messages. */
export type InputOf<C> = {
  readonly [P in keyof C as null extends ValueOf<C[P]> ? never : P]: ValueOf<C[P]>;
} & { readonly [P in keyof C as null extends ValueOf<C[P]> ? P : never]?: ValueOf<C[P]> | undefined };

/** The key of a table and its other columns. Column names are the names of properties in snake case. */
export interface TableOptions<K extends Columns, C extends Columns> {
  readonly key: K;
  readonly columns: C;
}

export interface Table<Key, Input, Row> {
  readonly name: string;
  readonly key: readonly (keyof Key & string)[];
  /** Every column, qualified with the name of the table. */
  readonly selected: Sql;
  /** Renames the columns of a row that was read by `selected` to properties. */
  toRow(row: Readonly<Record<string, unknown>>): Row;
  insert(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** Inserts rows, or replaces rows with the same key. No key may occur twice. */
  upsert(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** The same for rows that differ; returns the number of changed rows. */
  upsertChanged(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** Returns the number of deleted rows. */
  delete(db: Queryable, keys: readonly Key[]): Promise<number>;
}

/** A table of copies of another service's entities. A copy has the revision of its state. */
export interface CopyTable<Key, Input, Row> extends Table<Key, Input, Row> {
  /** Inserts states, or replaces older ones. No key may occur twice. */
  upsertNewer(db: Queryable, rows: readonly Input[]): Promise<number>;
  /** Deletes copies. `deletedAt` says when each of their entities was deleted, in microseconds since 1970. */
  delete(db: Queryable, keys: readonly Key[], deletedAt?: readonly number[]): Promise<number>;
  /** Deletes copies that are older than a revision; returns their number. Their entities were deleted before `since`, in microseconds since 1970. */
  deleteOlder(db: Queryable, revision: number, since?: number): Promise<number>;
  /**
   * Whether a copy was stored by a version that knew fewer columns: the others have what an earlier state said. Such a
   * version may run beside this one for a while.
   */
  hasOutdated(db: Queryable): Promise<boolean>;
}

export interface Revised {
  readonly revision: typeof bigint;
}

export function table<K extends Columns, C extends Columns>(
  name: string,
  options: TableOptions<K, C>,
): Table<InputOf<K>, InputOf<K & C>, RowOf<K & C>> {
  return declare(name, { ...options, isCopy: false });
}

/** Declares a table of copies; `revision` is one of its columns. `known_columns` says how many its last writer knew. */
export function copyTable<K extends Columns, C extends Columns>(
  name: string,
  { key, columns }: TableOptions<K, C>,
): CopyTable<InputOf<K>, InputOf<K & C & Revised>, RowOf<K & C & Revised>> {
  return declare(name, { key, columns: { ...columns, revision: bigint }, isCopy: true });
}

/** Rows read at a time, and deleted: there may be millions, and one statement for all would run into its time limit. */
const sweptAtOnce = 5000;

/** The types of `table` and `copyTable` differ; their statements are the same. */
function declare<Key extends object, Input extends object, Row>(
  name: string,
  options: { readonly key: Columns; readonly columns: Columns; readonly isCopy: boolean },
): CopyTable<Key, Input, Row> {
  const { key, columns, isCopy } = options;
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
  // Versions add columns, and remove some only when no other version knows them any more.
  const known = sql`${allNames.length}::integer`;
  const [marks, marked] = isCopy ? [sql`, known_columns`, sql`, ${known}`] : [sql``, sql``];
  const assigned = [...otherNames, ...(isCopy ? ["known_columns"] : [])].map(
    (each) => sql`${identifier(each)} = excluded.${identifier(each)}`,
  );

  async function insert(db: Queryable, rows: readonly object[], onConflict: Sql): Promise<number> {
    if (rows.length === 0) return 0;
    return db.run(sql`
      insert into ${id} (${list(allNames)}${marks})
      select ${joinSql(stored, ", ")}${marked} from unnest(${send(all, rows)}) as sent (${list(allNames)})${onConflict}`);
  }

  const upsertWhere = (db: Queryable, rows: readonly object[], condition: Sql) =>
    insert(
      db,
      rows,
      sql`
          on conflict (${list(keyNames)}) do update set ${joinSql(assigned, ", ")}${condition}`,
    );

  type Batch = Readonly<Record<string, unknown>> & { readonly seen: number; readonly deleted: number };

  /** Deletes the old ones of the next rows in the order of their keys; undefined: there is no row. */
  async function deleteOlderBatch(db: Queryable, revision: number, where: Sql): Promise<Batch | undefined> {
    return db.maybeOne<Batch>(sql`
      with seen as (
        select ${list(keyNames, id)}, ${id}.ctid from ${id}${where} order by ${list(keyNames, id)} limit ${sweptAtOnce}
      ), deleted as (
        delete from ${id} where ${isPlacedIn(id, sql`seen`)} and ${id}.revision < ${revision} returning 1
      )
      select ${list(keyNames, sql`seen`)}, (select count(*) from seen) as seen, (select count(*) from deleted) as deleted
        from seen
       order by ${joinSql(
         keyNames.map((each) => sql`seen.${identifier(each)} desc`),
         ", ",
       )}
       limit 1`);
  }

  function after(last: Batch): Sql {
    const values = Object.values(key).map(
      ({ send: sendColumn }, at) => sql`(${sendColumn([last[keyNames[at] ?? ""] as never])})[1]`,
    );
    return sql` where (${list(keyNames, id)}) > (${joinSql(values, ", ")})`;
  }

  return {
    name,
    key: Object.keys(key) as (keyof Key & string)[],
    selected: list(allNames, id),
    toRow: (row) =>
      Object.fromEntries(Object.keys(all).map((property, at) => [property, row[allNames[at] ?? ""]])) as Row,
    insert: (db, rows) => insert(db, rows, sql``),
    upsert: (db, rows) => upsertWhere(db, rows, sql``),
    upsertChanged: (db, rows) =>
      upsertWhere(db, rows, sql` where (${list(otherNames, id)}) is distinct from (${list(otherNames, excluded)})`),
    upsertNewer: (db, rows) => upsertWhere(db, rows, sql` where ${id}.revision < excluded.revision`),
    async delete(db, keys) {
      let deleted = 0;
      // A row that another transaction has just changed stands in another place, where the next try finds it.
      for (let left = keys.length; left > 0; ) {
        const batch = await db.one<{ found: number; gone: number }>(sql`
          with found as materialized (
            select kept.ctid
              from unnest(${send(key, keys)}) as sent (${list(keyNames)})
             cross join lateral (select ${id}.ctid
                                   from ${id}
                                  where ${withKey(list(keyNames, id), list(keyNames, sql`sent`))}
                                  limit 1) as kept
          ), gone as (
            delete from ${id} where ${isPlacedIn(id, sql`found`)} returning 1
          )
          select (select count(*) from found) as found, (select count(*) from gone) as gone`);
        deleted += batch.gone;
        left = batch.found - batch.gone;
      }
      return deleted;
    },
    async hasOutdated(db) {
      const { found } = await db.one<{ found: boolean }>(
        sql`select exists (select from ${id} where ${id}.known_columns < ${known}) as found`,
      );
      return found;
    },
    async deleteOlder(db, revision) {
      let deleted = 0;
      for (let last: Sql | undefined = sql``; last !== undefined; ) {
        const batch: Batch | undefined = await deleteOlderBatch(db, revision, last);
        deleted += batch?.deleted ?? 0;
        last = batch === undefined || batch.seen < sweptAtOnce ? undefined : after(batch);
      }
      return deleted;
    },
  };
}

/**
 * Writes rows as a table of a statement, `unnest(…) as alias (…)`, with one array parameter per column. Numbered rows
 * have their position in the column `ord`, from 1 on.
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

import type { Account } from "@tessera/kit/account";
import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";

/** One side of a comparison. */
export interface Side {
  readonly db: Queryable;
  readonly rows: Sql;
}

/** Both sides of it: the true rows, and the copy of them. */
export interface Sides extends Pick<Account, "key" | "isPart"> {
  readonly owner: Side;
  readonly copy: Side;
}

/** A row as one side has it; undefined: it has none. */
type Seen = { readonly revision: number; readonly content: string } | undefined;

/** A row that the sides have differently. */
export interface Difference {
  /** The values of its key. */
  readonly key: readonly (string | number)[];
  readonly owner: Seen;
  readonly copy: Seen;
}

/** What a comparison has found. */
export interface Compared {
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** False: time was up, or there were too many differences. */
  readonly isComplete: boolean;
}

/** One statement sums so many rows in some milliseconds. */
const stretchRows = 5000;

/** More would change no advice. */
const mostDifferences = 1000;

interface Stretch {
  readonly after: readonly unknown[] | undefined;
  readonly upTo: readonly unknown[] | undefined;
}

/**
 * Compares all rows, stretch by stretch in the order of their keys: first their numbers and sums of hashes, and row by row
 * only where these differ. Rows that change meanwhile may be among the differences.
 */
export async function compareRows(sides: Sides, isOver: () => boolean): Promise<Compared> {
  const differences: Difference[] = [];
  let rows = 0;
  for (let after: readonly unknown[] | undefined; ; ) {
    if (isOver() || differences.length >= mostDifferences) return { rows, differences, isComplete: false };
    const upTo = await findEnd(sides, after);
    const stretch = { after, upTo };
    const [owned, copied] = await Promise.all([sum(sides.owner, sides, stretch), sum(sides.copy, sides, stretch)]);
    rows += owned.rows;
    if (owned.digest !== copied.digest || owned.rows !== copied.rows)
      differences.push(...(await findDifferences(sides, inStretch(sides, stretch))));
    if (upTo === undefined) return { rows, differences: differences.slice(0, mostDifferences), isComplete: true };
    after = upTo;
  }
}

/** Compares some rows once more, and returns those that neither side has changed and that still differ. */
export async function findLasting(sides: Sides, before: readonly Difference[]): Promise<Difference[]> {
  if (before.length === 0) return [];
  const wanted = before.map(({ key }) => sql`(${valuesOf(sides, key)})`);
  const now = await findDifferences(sides, sql`(${columns(sides)}) in (${joinSql(wanted, ", ")})`);
  const known = new Map(before.map((each) => [nameOf(each), each]));
  return now.filter((each) => {
    const earlier = known.get(nameOf(each));
    return earlier?.owner?.revision === each.owner?.revision && earlier?.copy?.content === each.copy?.content;
  });
}

function nameOf({ key }: Pick<Difference, "key">): string {
  return key.join("/");
}

async function findDifferences(sides: Sides, among: Sql): Promise<Difference[]> {
  // The copy first: its rows are older than those of its owner.
  const copied = await read(sides.copy, sides, among);
  const owned = await read(sides.owner, sides, among);
  const keys = new Map([...copied, ...owned].map(([name, { key }]) => [name, key]));
  return [...keys].flatMap(([name, key]) => {
    const [owner, copy] = [owned.get(name)?.seen, copied.get(name)?.seen];
    const isLackable = copy === undefined && sides.isPart === true;
    return owner?.content === copy?.content || isLackable ? [] : [{ key, owner, copy }];
  });
}

function columns({ key }: Pick<Sides, "key">): Sql {
  return joinSql(
    Object.keys(key).map((name) => sql`account.${identifier(name)}`),
    ", ",
  );
}

/** The values of a key, as constants of their types. */
function valuesOf({ key }: Pick<Sides, "key">, values: readonly unknown[]): Sql {
  return joinSql(
    Object.values(key).map(({ send }, at) => sql`(${send([values[at] as never])})[1]`),
    ", ",
  );
}

function inStretch(sides: Sides, { after, upTo }: Stretch): Sql {
  const isBehind = after === undefined ? sql`true` : sql`(${columns(sides)}) > (${valuesOf(sides, after)})`;
  const isBefore = upTo === undefined ? sql`true` : sql`(${columns(sides)}) <= (${valuesOf(sides, upTo)})`;
  return sql`${isBehind} and ${isBefore}`;
}

/** The key at which the next stretch ends; undefined: it is the last. */
async function findEnd(sides: Sides, after: readonly unknown[] | undefined): Promise<readonly unknown[] | undefined> {
  const row = await sides.owner.db.maybeOne<Record<string, unknown>>(sql`
    select ${columns(sides)}
      from (${sides.owner.rows}) as account
     where ${inStretch(sides, { after, upTo: undefined })}
     order by ${columns(sides)}
    offset ${stretchRows - 1}
     limit 1`);
  return row === undefined ? undefined : Object.keys(sides.key).map((name) => row[name]);
}

async function sum({ db, rows }: Side, sides: Sides, stretch: Stretch): Promise<{ rows: number; digest: string }> {
  return db.one(sql`
    select count(*) as rows, coalesce(sum(hashtextextended(concat_ws('/', ${columns(sides)}, account.content), 0)::numeric), 0)::text as digest
      from (${rows}) as account
     where ${inStretch(sides, stretch)}`);
}

async function read(
  { db, rows }: Side,
  sides: Sides,
  among: Sql,
): Promise<Map<string, { readonly key: Difference["key"]; readonly seen: NonNullable<Seen> }>> {
  const found = await db.many<Record<string, string | number> & { revision: number; content: string }>(sql`
    select ${columns(sides)}, account.revision, account.content
      from (${rows}) as account
     where ${among}
     order by ${columns(sides)}
     limit ${2 * stretchRows}`);
  const names = Object.keys(sides.key);
  return new Map(
    found.map((row) => {
      const key = names.map((name) => row[name] ?? "");
      const { revision, content } = row;
      return [nameOf({ key }), { key, seen: { revision, content } }];
    }),
  );
}

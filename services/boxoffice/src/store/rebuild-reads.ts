import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { drawAboveClock } from "@tessera/kit/pg/draw-above-clock";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";
import { type CatalogueTable, catalogueKeys } from "./catalogue-tables.ts";
import type { CredentialKind, StoredCredential } from "./credential-rows.ts";
import type { StoredEvent } from "./events.ts";
import { takeLocks } from "./locks.ts";
import { type StoredPosition, storedPosition } from "./positions.ts";

/** A table of entities that other services keep copies of. */
export type EntityTable = keyof typeof keys;

/** The columns of each key, in order. */
const keys = {
  ...catalogueKeys,
  credential: { organizer: sql`text`, kind: sql`text`, id: sql`text` },
  event: { organizer: sql`text`, slug: sql`text` },
  position: { organizer: sql`text`, event: sql`text`, id: sql`bigint` },
};

/** The values of those columns. */
export type EntityKey = readonly string[];

/**
 * Draws a revision above all earlier ones. The lock on the table waits until all transactions with a smaller revision
 * for its rows are committed; the other lock serializes those that move the sequence.
 */
export async function drawRevision(tx: Tx, table: EntityTable): Promise<number> {
  await tx.run(sql`lock table ${identifier(table)} in share mode`);
  await takeLocks(tx, [{ name: "revisions", exclusive: true }]);
  return drawAboveClock(tx, "revision_seq");
}

export async function countEntities(db: Queryable, table: EntityTable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from ${identifier(table)}`);
  return count;
}

/** Reads the next keys after a key, in the order of the primary key. */
export async function nextKeys(
  tx: Queryable,
  table: EntityTable,
  { after, limit }: { after: EntityKey | undefined; limit: number },
): Promise<EntityKey[]> {
  const columns = columnsOf(table);
  const names = joinSql(
    columns.map(({ name }) => name),
    ", ",
  );
  const texts = columns.map(({ name }) => sql`${name}::text`);
  const behind = columns.map(({ type }, index) => sql`${after?.[index] ?? null}::${type}`);
  const isBehind = after === undefined ? sql`true` : sql`(${names}) > (${joinSql(behind, ", ")})`;
  const rows = await tx.many<{ key: string[] }>(sql`
    select array[${joinSql(texts, ", ")}] as key
      from ${identifier(table)}
     where ${isBehind}
     order by ${names}
     limit ${limit}`);
  return rows.map(({ key }) => key);
}

/** Joins the rows of these keys; deleted ones are left out. */
function wanted(table: EntityTable, wantedKeys: readonly EntityKey[]): Sql {
  const columns = columnsOf(table);
  const arrays = columns.map(({ type }, index) => sql`${wantedKeys.map((key) => key[index])}::${type}[]`);
  const names = columns.map(({ name }) => name);
  const matches = names.map((name) => sql`kept.${name} = wanted.${name}`);
  return sql`
      from unnest(${joinSql(arrays, ", ")}) as wanted (${joinSql(names, ", ")})
      join ${identifier(table)} as kept on ${joinSql(matches, " and ")}`;
}

function columnsOf(table: EntityTable): { readonly name: Sql; readonly type: Sql }[] {
  return Object.entries(keys[table]).map(([name, type]) => ({ name: identifier(name), type }));
}

/** Reads documents, each under a new revision. */
export async function readDocuments(
  tx: Tx,
  table: CatalogueTable,
  wantedKeys: readonly EntityKey[],
): Promise<(Scope & { readonly key: string; readonly data: unknown; readonly revision: number })[]> {
  const event = "event" in keys[table] ? sql`kept.event` : sql`''`;
  const key = "identifier" in keys[table] ? sql`kept.identifier` : sql`kept.id`;
  return tx.many(sql`
    select kept.organizer, ${event} as event, ${key}::text as key, kept.data, nextval('revision_seq') as revision
    ${wanted(table, wantedKeys)}`);
}

/** Reads events, each under a new revision. */
export async function readEvents<Data, Settings>(
  tx: Tx,
  wantedKeys: readonly EntityKey[],
): Promise<(StoredEvent<Data, Settings> & { readonly organizer: string })[]> {
  return tx.many(sql`
    select kept.organizer, kept.slug, kept.data, kept.settings, nextval('revision_seq') as revision
    ${wanted("event", wantedKeys)}
     where not kept.is_removed`);
}

export interface PlacedCredential<T> extends StoredCredential<T> {
  readonly organizer: string;
  readonly kind: CredentialKind;
  readonly gateName: string | null;
}

/** Reads credentials, each under a new revision. */
export async function readCredentials<T>(tx: Tx, wantedKeys: readonly EntityKey[]): Promise<PlacedCredential<T>[]> {
  return tx.many(sql`
    select kept.organizer, kept.kind, kept.id, kept.token_hash as "tokenHash", kept.data,
           gate.data ->> 'name' as "gateName", nextval('revision_seq') as revision
    ${wanted("credential", wantedKeys)}
      left join gate on gate.organizer = kept.organizer and gate.id = (kept.data ->> 'gate')::bigint`);
}

/** Reads positions, each under a new revision. */
export async function readPositions(tx: Tx, wantedKeys: readonly EntityKey[]): Promise<StoredPosition[]> {
  return tx.many(sql`
    select ${storedPosition(sql`kept`, sql`nextval('revision_seq')`)}
    ${wanted("position", wantedKeys)}`);
}

export interface NamingPosition extends Pick<StoredPosition, "organizer" | "event" | "id" | "revision" | "state"> {
  /** Since when it takes what it takes of its voucher. */
  readonly since: number;
}

/** Reads which of these positions name a voucher, each under a new revision. */
export async function readNamingPositions(tx: Tx, wantedKeys: readonly EntityKey[]): Promise<NamingPosition[]> {
  return tx.many(sql`
    select kept.organizer, kept.event, kept.id, kept.state, kept.voucher_since_at as since,
           nextval('revision_seq') as revision
    ${wanted("position", wantedKeys)}
     where kept.voucher is not null`);
}

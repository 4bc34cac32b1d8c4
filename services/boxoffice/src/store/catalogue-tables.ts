import type { Tx } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** A table of a key and the sent document. */
export type CatalogueTable = keyof typeof tables;

const tables = {
  sales_channel: { level: "organizer", key: "identifier", type: sql`text` },
  gate: { level: "organizer", key: "id", type: sql`bigint` },
  subevent: { level: "event", key: "id", type: sql`bigint` },
  tax_rule: { level: "event", key: "id", type: sql`bigint` },
  category: { level: "event", key: "id", type: sql`bigint` },
  item: { level: "event", key: "id", type: sql`bigint` },
  quota: { level: "event", key: "id", type: sql`bigint` },
  question: { level: "event", key: "id", type: sql`bigint` },
  seat: { level: "event", key: "id", type: sql`bigint` },
  revoked_secret: { level: "event", key: "id", type: sql`bigint` },
  blocked_secret: { level: "event", key: "id", type: sql`bigint` },
  reusable_medium: { level: "organizer", key: "id", type: sql`bigint` },
} as const;

/** The key columns of these tables with their types, in order. */
export const catalogueKeys = Object.fromEntries(
  Object.entries(tables).map(([table, { level, key, type }]) => [
    table,
    { organizer: sql`text`, ...(level === "event" ? { event: sql`text` } : {}), [key]: type },
  ]),
) as unknown as Readonly<Record<CatalogueTable, Readonly<Record<string, Sql>>>>;

export interface CatalogueRow {
  readonly key: string;
  readonly document: string;
}

/** Upserts rows and returns the new revisions, by key, of new and changed ones. */
export async function upsert(
  tx: Tx,
  table: CatalogueTable,
  { scope, rows }: { scope: Scope; rows: readonly CatalogueRow[] },
): Promise<Map<string, number>> {
  const { key, type, owner, ownerValues } = describe(table, scope);
  const changed = await tx.many<{ key: string; revision: number }>(sql`
    insert into ${identifier(table)} as kept (${owner}, ${key}, data, revision)
    select ${ownerValues}, incoming.key, incoming.data, nextval('revision_seq')
      from rows from (unnest(${rows.map((row) => row.key)}::${type}[]),
                      jsonb_array_elements(${toJsonArray(rows)}::jsonb)) as incoming (key, data)
     order by incoming.key
        on conflict (${owner}, ${key}) do update
       set data = excluded.data,
           revision = nextval('revision_seq'),
           changed_at = clock_timestamp()
     where kept.data is distinct from excluded.data
    returning kept.${key}::text as key, kept.revision`);
  return new Map(changed.map((row) => [row.key, row.revision]));
}

/** Deletes rows and returns the keys of deleted ones. */
export async function deleteRows(
  tx: Tx,
  table: CatalogueTable,
  { scope, keys }: { scope: Scope; keys: readonly string[] },
): Promise<string[]> {
  const { key, type, isOwned } = describe(table, scope);
  const removed = await tx.many<{ key: string }>(sql`
    delete from ${identifier(table)} as kept
     where ${isOwned}
       and kept.${key} = any(${keys}::${type}[])
    returning kept.${key}::text as key`);
  return removed.map((row) => row.key);
}

/** Deletes all rows of an event and returns their keys. */
export async function deleteAll(tx: Tx, table: CatalogueTable, scope: Scope): Promise<string[]> {
  const { key, isOwned } = describe(table, scope);
  const removed = await tx.many<{ key: string }>(sql`
    delete from ${identifier(table)} as kept
     where ${isOwned}
    returning kept.${key}::text as key`);
  return removed.map((row) => row.key);
}

/** One JSON parameter for all documents: in an array their texts would be quoted once more. */
function toJsonArray(rows: readonly CatalogueRow[]): string {
  return `[${rows.map((row) => row.document).join(",")}]`;
}

function describe(table: CatalogueTable, { organizer, event }: Scope) {
  const { level, key, type } = tables[table];
  const columns = level === "event" ? { organizer, event } : { organizer };
  const named = Object.entries(columns).map(([name, value]) => ({ name: identifier(name), value }));
  const list = (parts: Sql[]) => joinSql(parts, ", ");
  return {
    key: identifier(key),
    type,
    owner: list(named.map(({ name }) => name)),
    ownerValues: list(named.map(({ value }) => sql`${value}`)),
    isOwned: joinSql(
      named.map(({ name, value }) => sql`kept.${name} = ${value}`),
      " and ",
    ),
  };
}

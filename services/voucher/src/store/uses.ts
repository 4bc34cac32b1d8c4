import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, decimal, instant, rowsAs, table, text } from "@tessera/kit/pg/table";
import type { Use } from "../domain/count-uses.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const positionKey = { organizer: text, event: text, position: bigint };

const useColumns = {
  revision: bigint,
  voucher: bigint,
  placed: instant,
  counts: boolean,
  budget: decimal,
  baseCounts: boolean,
  baseBudget: decimal,
};

const uses = table("voucher_use", { key: positionKey, columns: useColumns });

/** The key of a position. */
export interface PositionKey extends EventKey {
  readonly position: number;
}

/** A use as it is stored. */
export interface StoredUse extends Use, PositionKey {
  /** Of the state of the position; 0: it was confirmed by a shop, and no state has arrived yet. */
  readonly revision: number;
}

type Row = Readonly<Record<string, unknown>>;

/** Reads the uses of positions. */
export async function readUses(db: Queryable, keys: readonly PositionKey[]): Promise<StoredUse[]> {
  if (keys.length === 0) return [];
  const rows = await db.many<Row>(sql`
    select ${uses.selected}
      from voucher_use
      join ${rowsAs("wanted", positionKey, keys)}
        on voucher_use.organizer = wanted.organizer
           and voucher_use.event = wanted.event
           and voucher_use.position = wanted.position`);
  return rows.map(uses.toRow);
}

/** Stores uses in place of earlier ones of their positions. */
export async function putUses(tx: Queryable, changed: readonly StoredUse[]): Promise<void> {
  await uses.upsert(tx, changed);
}

/** Adds uses of positions that have none; returns how many had none. */
export async function addUses(tx: Queryable, added: readonly StoredUse[]): Promise<number> {
  if (added.length === 0) return 0;
  return tx.run(sql`
    insert into voucher_use (organizer, event, position, revision, voucher, placed_at, counts, budget, base_counts, base_budget)
    select added.organizer, added.event, added.position, added.revision, added.voucher, added.placed_at, added.counts,
           added.budget, added.base_counts, added.base_budget
      from ${rowsAs("added", { ...positionKey, ...useColumns }, added)}
        on conflict (organizer, event, position) do nothing`);
}

export async function deleteUses(tx: Queryable, keys: readonly PositionKey[]): Promise<void> {
  await uses.delete(tx, keys);
}

/** Finds some uses whose positions have a state from before a revision. One that was confirmed has none: it may yet arrive. */
export async function findOlderUses(
  db: Queryable,
  { revision, limit }: { readonly revision: number; readonly limit: number },
): Promise<StoredUse[]> {
  const rows = await db.many<Row>(sql`
    select ${uses.selected}
      from voucher_use
     where voucher_use.revision > 0
       and voucher_use.revision < ${revision}
     order by voucher_use.organizer, voucher_use.event, voucher_use.position
     limit ${limit}`);
  return rows.map(uses.toRow);
}

/** Takes uses of orders before a moment as contained in the record of their voucher, as they are, and no others. */
export async function setBaseline(
  tx: Queryable,
  { organizer, event, id }: EntityKey,
  countedAsOf: number,
): Promise<StoredUse[]> {
  const contained = sql`voucher_use.placed_at < ${toTimestamp(countedAsOf)}::timestamptz`;
  const rows = await tx.many<Row>(sql`
    update voucher_use
       set base_counts = voucher_use.counts and ${contained},
           base_budget = case when ${contained} then voucher_use.budget else 0 end
     where voucher_use.organizer = ${organizer}
       and voucher_use.event = ${event}
       and voucher_use.voucher = ${id}
    returning ${uses.selected}`);
  return rows.map(uses.toRow);
}

/** Whether a position was ever bought with a voucher, also one that was canceled. */
export async function isUsed(db: Queryable, { organizer, event, id }: EntityKey): Promise<boolean> {
  const { used } = await db.one<{ used: boolean }>(sql`
    select exists (select from voucher_use
                    where voucher_use.organizer = ${organizer}
                      and voucher_use.event = ${event}
                      and voucher_use.voucher = ${id}) as used`);
  return used;
}

/** What each position takes of its voucher, for a comparison. */
export const useRows = sql`
  select voucher_use.organizer, voucher_use.event, voucher_use.position as id, voucher_use.revision,
         concat_ws('/', voucher_use.voucher, voucher_use.counts, voucher_use.budget) as content
    from voucher_use
   -- Those without a revision were confirmed before their position arrived.
   where voucher_use.revision > 0`;

const awaited = sql`
  select voucher_use.organizer, voucher_use.event, voucher_use.position as id, voucher_use.revision, '' as content
    from voucher_use
   where voucher_use.revision = 0
     and voucher_use.placed_at < now() - interval '1 day'`;

/** Uses that were confirmed long ago for positions that have not arrived, and that there should be none, for a comparison. */
export const overdueRows = awaited;
export const noOverdueRows = sql`${awaited} and false`;

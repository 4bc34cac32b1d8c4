import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, decimal, instant, rowsAs, table, text } from "@tessera/kit/pg/table";
import type { Use } from "../domain/count-uses.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const positionKey = { organizer: text, event: text, position: bigint };

const uses = table("voucher_use", {
  key: positionKey,
  columns: {
    revision: bigint,
    voucher: bigint,
    placed: instant,
    counts: boolean,
    budget: decimal,
    baseCounts: boolean,
    baseBudget: decimal,
  },
});

/** The key of a position. */
export interface PositionKey extends EventKey {
  readonly position: number;
}

/** A use as it is stored. */
export interface StoredUse extends Use, PositionKey {
  /** Of the state of the position. */
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

export async function deleteUses(tx: Queryable, keys: readonly PositionKey[]): Promise<void> {
  await uses.delete(tx, keys);
}

/** Finds some uses whose positions have a state from before a revision. */
export async function findOlderUses(
  db: Queryable,
  { revision, limit }: { readonly revision: number; readonly limit: number },
): Promise<StoredUse[]> {
  const rows = await db.many<Row>(sql`
    select ${uses.selected}
      from voucher_use
     where voucher_use.revision < ${revision}
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

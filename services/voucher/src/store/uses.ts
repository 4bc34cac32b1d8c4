import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, decimal, instant, rowsAs, table, text } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { FormerUse, Sums, Use } from "../domain/count-uses.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const positionKey = { organizer: text, event: text, position: bigint };

const useColumns = {
  revision: bigint,
  voucher: bigint,
  since: instant,
  counts: boolean,
  budget: decimal,
};

const uses = table("current_use", { key: positionKey, columns: useColumns });

export interface PositionKey extends EventKey {
  readonly position: number;
}

export interface StoredUse extends Use, PositionKey {}

export interface StoredFormerUse extends FormerUse, PositionKey {}

type Row = Readonly<Record<string, unknown>>;

export async function readUses(db: Queryable, keys: readonly PositionKey[]): Promise<StoredUse[]> {
  if (keys.length === 0) return [];
  const rows = await db.many<Row>(sql`
    select ${uses.selected}
      from ${rowsAs("wanted", positionKey, keys)}
     cross join lateral (select ${uses.selected}
                           from current_use
                          where ${withKey(
                            sql`current_use.organizer, current_use.event, current_use.position`,
                            sql`wanted.organizer, wanted.event, wanted.position`,
                          )}
                          limit 1) as current_use`);
  return rows.map(uses.toRow);
}

/** Stores uses in place of earlier ones of their positions. */
export async function putUses(tx: Queryable, changed: readonly StoredUse[]): Promise<void> {
  await uses.upsert(tx, changed);
}

/** Adds uses of positions that have none; returns how many were added. */
export async function addUses(tx: Queryable, added: readonly StoredUse[]): Promise<number> {
  if (added.length === 0) return 0;
  return tx.run(sql`
    insert into current_use (organizer, event, position, revision, voucher, since_at, counts, budget)
    select added.organizer, added.event, added.position, added.revision, added.voucher, added.since_at, added.counts,
           added.budget
      from ${rowsAs("added", { ...positionKey, ...useColumns }, added)}
        on conflict (organizer, event, position) do nothing`);
}

export async function deleteUses(tx: Queryable, keys: readonly PositionKey[]): Promise<void> {
  await uses.delete(tx, keys);
}

/** Finds uses whose positions have a state older than a revision. A use that was only confirmed has no state yet. */
export async function findOlderUses(
  db: Queryable,
  { revision, limit }: { readonly revision: number; readonly limit: number },
): Promise<StoredUse[]> {
  const rows = await db.many<Row>(sql`
    select ${uses.selected}
      from current_use
     where current_use.revision > 0
       and current_use.revision < ${revision}
     order by current_use.organizer, current_use.event, current_use.position
     limit ${limit}`);
  return rows.map(uses.toRow);
}

const formerKey = { ...positionKey, voucher: bigint, until: instant };
const formerColumns = { since: instant, counts: boolean, budget: decimal };
const former = table("former_use", { key: formerKey, columns: formerColumns });

/** Stores former uses of positions. Uses of a deleted event do not count for a later event with its slug. */
export async function addFormerUses(tx: Queryable, ended: readonly StoredFormerUse[]): Promise<void> {
  if (ended.length === 0) return;
  await tx.run(sql`
    insert into former_use (organizer, event, voucher, position, since_at, until_at, counts, budget)
    select ended.organizer, ended.event, ended.voucher, ended.position, ended.since_at, ended.until_at, ended.counts,
           ended.budget
      from ${rowsAs("ended", { ...formerKey, ...formerColumns }, ended)}
     where exists (select from event where event.organizer = ended.organizer and event.event = ended.event)
        on conflict (organizer, event, voucher, position, until_at) do nothing`);
}

/** Reads the former uses of positions that ended behind a moment. */
export async function readFormerUses(
  db: Queryable,
  behind: readonly (PositionKey & { readonly since: number })[],
): Promise<StoredFormerUse[]> {
  if (behind.length === 0) return [];
  const rows = await db.many<Row>(sql`
    select ${former.selected}
      from ${rowsAs("wanted", { ...positionKey, since: instant }, behind)}
      join former_use
        on former_use.organizer = wanted.organizer
           and former_use.event = wanted.event
           and former_use.position = wanted.position
           and former_use.until_at > wanted.since_at`);
  return rows.map(former.toRow);
}

export async function deleteFormerUses(tx: Queryable, uses: readonly StoredFormerUse[]): Promise<void> {
  await former.delete(tx, uses);
}

export async function readUsesOf(
  db: Queryable,
  { organizer, event, id }: EntityKey,
): Promise<(StoredUse | StoredFormerUse)[]> {
  const current = await db.many<Row>(sql`
    select ${uses.selected}
      from current_use
     where current_use.organizer = ${organizer}
       and current_use.event = ${event}
       and current_use.voucher = ${id}`);
  const ended = await db.many<Row>(sql`
    select ${former.selected}
      from former_use
     where former_use.organizer = ${organizer}
       and former_use.event = ${event}
       and former_use.voucher = ${id}`);
  return [...current.map(uses.toRow), ...ended.map(former.toRow)];
}

/** Records are sent in turn, but a record of an earlier moment may come late. */
const longestDelay = sql`interval '1 day'`;

/** Deletes former uses that ended long before the moment of the record: no record contains them any more. */
export async function forgetFormerUses(
  tx: Queryable,
  { organizer, event, id }: EntityKey,
  countedAsOf: number,
): Promise<void> {
  await tx.run(sql`
    delete from former_use
     where former_use.organizer = ${organizer}
       and former_use.event = ${event}
       and former_use.voucher = ${id}
       and former_use.until_at < ${toTimestamp(countedAsOf)}::timestamptz - ${longestDelay}`);
}

const sumKey = { organizer: text, event: text, voucher: bigint };
const sumColumns = { redeemed: bigint, budgetUsed: decimal };
const sums = table("use_sum", { key: sumKey, columns: sumColumns });

/** The difference between the uses of a voucher and its record. */
export interface StoredSums extends Sums, EventKey {
  readonly voucher: number;
}

/** Replaces the sums of vouchers. */
export async function putSums(tx: Queryable, counted: readonly StoredSums[]): Promise<void> {
  await sums.upsert(tx, counted);
}

/** Adds to the sums of vouchers; returns the new sums. */
export async function addSums(tx: Queryable, added: readonly StoredSums[]): Promise<StoredSums[]> {
  if (added.length === 0) return [];
  const rows = await tx.many<Row>(sql`
    insert into use_sum (organizer, event, voucher, redeemed, budget_used)
    select added.organizer, added.event, added.voucher, added.redeemed, added.budget_used
      from ${rowsAs("added", { ...sumKey, ...sumColumns }, added)}
     order by added.organizer collate "C", added.event collate "C", added.voucher
        on conflict (organizer, event, voucher) do update
       set redeemed = use_sum.redeemed + excluded.redeemed,
           budget_used = use_sum.budget_used + excluded.budget_used
    returning ${sums.selected}`);
  return rows.map(sums.toRow);
}

/** Whether a position was ever bought with a voucher, canceled ones included. */
export async function isUsed(db: Queryable, { organizer, event, id }: EntityKey): Promise<boolean> {
  const { used } = await db.one<{ used: boolean }>(sql`
    select exists (select from current_use
                    where current_use.organizer = ${organizer}
                      and current_use.event = ${event}
                      and current_use.voucher = ${id}) as used`);
  return used;
}

/** The use of each position, for the reconciliation with boxoffice. */
export const useRows = sql`
  select current_use.organizer, current_use.event, current_use.position as id, current_use.revision,
         concat_ws('/', current_use.voucher, current_use.counts, current_use.budget) as content
    from current_use
   -- Without a revision: confirmed before the position arrived.
   where current_use.revision > 0`;

const awaited = sql`
  select current_use.organizer, current_use.event, current_use.position as id, current_use.revision, '' as content
    from current_use
   where current_use.revision = 0
     and current_use.since_at < now() - interval '1 day'`;

/** Uses confirmed long ago for positions that never arrived: there should be none. */
export const overdueRows = awaited;
export const noOverdueRows = sql`${awaited} and false`;

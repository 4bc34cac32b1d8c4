import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, bigints, rowsAs } from "@tessera/kit/pg/table";
import { type EntityKey, entityKey, keysAs } from "./keys.ts";

/** The kinds of entities that can be deleted while a voucher refers to them. */
export type LostKind = "item" | "variation" | "quota";

/** A deleted entity that vouchers may still refer to. */
export interface LostReference extends EntityKey {
  readonly kind: LostKind;
}

/** The copies that are about to be deleted: these keys, or those that a rebuild did not publish. */
export type Leaving = { readonly keys: readonly EntityKey[] } | { readonly olderThan: number };

/** An entity that a rebuild did not publish may come back for a day. */
function dueAt(leaving: Leaving): Sql {
  return "keys" in leaving ? sql`now()` : sql`now() + interval '1 day'`;
}

function isLeaving(copy: Sql, leaving: Leaving): Sql {
  if ("olderThan" in leaving) return sql`${copy}.revision < ${leaving.olderThan}`;
  return sql`exists (select from ${keysAs("gone", leaving.keys)}
                      where gone.organizer = ${copy}.organizer and gone.event = ${copy}.event and gone.id = ${copy}.id)`;
}

/** Notes `lost (organizer, event, kind, id, due_at)`. */
async function note(tx: Queryable, lost: Sql): Promise<void> {
  await tx.run(sql`
    insert into lost_reference (organizer, event, kind, id, due_at)
    select lost.organizer, lost.event, lost.kind, lost.id, lost.due_at
      from (${lost}) as lost (organizer, event, kind, id, due_at)
     order by lost.organizer, lost.event, lost.kind, lost.id
        on conflict (organizer, event, kind, id) do update
           set due_at = least(lost_reference.due_at, excluded.due_at)`);
}

/** Notes items, with their variations, before their copies are deleted. */
export async function noteLostItems(tx: Queryable, leaving: Leaving): Promise<void> {
  await note(
    tx,
    sql`select item.organizer, item.event, part.kind, part.id, ${dueAt(leaving)}
          from item
         cross join lateral (select 'item', item.id union select 'variation', unnest(item.variations)) as part (kind, id)
         where ${isLeaving(sql`item`, leaving)}`,
  );
}

/** Notes quotas before their copies are deleted. */
export async function noteLostQuotas(tx: Queryable, leaving: Leaving): Promise<void> {
  await note(
    tx,
    sql`select quota.organizer, quota.event, 'quota', quota.id, ${dueAt(leaving)}
          from quota
         where ${isLeaving(sql`quota`, leaving)}`,
  );
}

/** Notes variations that the copies of items have, and these newer states have not. */
export async function noteLostVariations(
  tx: Queryable,
  items: readonly (EntityKey & { readonly revision: number; readonly variations: readonly number[] })[],
): Promise<void> {
  if (items.length === 0) return;
  const state = { ...entityKey, revision: bigint, variations: bigints };
  await note(
    tx,
    sql`select item.organizer, item.event, 'variation', former.id, now()
          from ${rowsAs("sent", state, items)}
          join item
            on item.organizer = sent.organizer and item.event = sent.event and item.id = sent.id
               and item.revision < sent.revision
         cross join lateral unnest(item.variations) as former (id)
         where not sent.variations @> to_jsonb(former.id)`,
  );
}

const shown = sql`lost_reference.organizer, lost_reference.event, lost_reference.kind, lost_reference.id`;

/** Finds what this transaction has noted, up to a limit. */
export async function findJustLost(tx: Queryable, { limit }: { readonly limit: number }): Promise<LostReference[]> {
  return tx.many<LostReference>(sql`
    select ${shown}
      from lost_reference
     where lost_reference.due_at = now()
     order by ${shown}
     limit ${limit}`);
}

/** Finds the next deleted entities after a key, in key order. */
export async function findLost(
  db: Queryable,
  { after, limit }: { readonly after: LostReference | undefined; readonly limit: number },
): Promise<LostReference[]> {
  const { organizer, event, kind, id } = after ?? { organizer: "", event: "", kind: "", id: 0 };
  return db.many<LostReference>(sql`
    select ${shown}
      from lost_reference
     where lost_reference.due_at <= now()
       and (${shown}) > (${organizer}, ${event}, ${kind}, ${id})
     order by ${shown}
     limit ${limit}`);
}

const columns: Readonly<Record<LostKind, Sql>> = {
  item: sql`voucher.item`,
  variation: sql`voucher.variation`,
  quota: sql`voucher.quota`,
};

function isThere({ organizer, event, kind, id }: LostReference): Sql {
  const inEvent = (copy: Sql) => sql`${copy}.organizer = ${organizer} and ${copy}.event = ${event}`;
  if (kind === "quota") return sql`exists (select from quota where ${inEvent(sql`quota`)} and quota.id = ${id})`;
  const isIt = kind === "item" ? sql`item.id = ${id}` : sql`${id} = any(item.variations)`;
  return sql`exists (select from item where ${inEvent(sql`item`)} and ${isIt})`;
}

/** Finds vouchers of an event that refer to missing entities. Vouchers of a deleted event are deleted with it. */
export async function findNaming(
  db: Queryable,
  lost: LostReference,
  { limit }: { readonly limit: number },
): Promise<EntityKey[]> {
  const { organizer, event, kind, id } = lost;
  return db.many<EntityKey>(sql`
    select voucher.organizer, voucher.event, voucher.id
      from voucher
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and ${columns[kind]} = ${id}
       and exists (select from event where event.organizer = ${organizer} and event.event = ${event})
       and not ${isThere(lost)}
     order by voucher.id
     limit ${limit}`);
}

/** Deletes notes that are older than this. */
export async function forgetLost(
  db: Queryable,
  { organizer, event, kind, id }: LostReference,
  { seconds }: { readonly seconds: number },
): Promise<void> {
  await db.run(sql`
    delete from lost_reference
     where lost_reference.organizer = ${organizer}
       and lost_reference.event = ${event}
       and lost_reference.kind = ${kind}
       and lost_reference.id = ${id}
       and lost_reference.due_at < now() - ${seconds} * interval '1 second'`);
}

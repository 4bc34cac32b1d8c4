import type { Queryable } from "@tessera/kit/pg/database";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { identifier, sql } from "@tessera/kit/pg/sql";
import type { FailedScan } from "../domain/failed-scan.ts";
import { indexedSecret } from "./indexed-secret.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const nonceLock = declareLock("tessera failed scan");

/**
 * Takes an advisory lock on a nonce: the next transaction sees whether this one has stored it. A unique index cannot do
 * that: the key beside the nonce depends on how the ticket was found.
 */
export async function lockNonce(tx: Queryable, { organizer, event, nonce }: EventKey & { nonce: string }) {
  await takeLocks(tx, { alone: [nonceLock(organizer, event, nonce)] });
}

/** Locks a position or a list against deletion, which would miss a scan being stored. Returns whether it exists. */
export async function lockForScan(
  tx: Queryable,
  table: "position" | "list",
  { organizer, event, id }: EntityKey,
): Promise<boolean> {
  const locked = await tx.run(sql`
    select held.id
      from ${identifier(table)} as held
     where held.organizer = ${organizer}
       and held.event = ${event}
       and held.id = ${id}
       for key share`);
  return locked > 0;
}

/** Finds the position with this secret, and locks it against deletion. Of several, one that is not canceled. */
export async function lockPositionWithSecret(
  tx: Queryable,
  { organizer, event, code }: EventKey & { readonly code: string },
): Promise<number | null> {
  const found = await tx.maybeOne<{ id: number }>(sql`
    select position.id
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and ${indexedSecret(sql`position.secret`)} = ${indexedSecret(sql`${code}::text collate "C"`)}
       and position.secret = ${code}
     order by position.canceled, position.id
     limit 1
       for key share`);
  return found?.id ?? null;
}

/** Returns which of the entities that a device took a code for belong to the event; null belongs to every event. */
export async function findRawReferences(
  tx: Queryable,
  { organizer, event }: EventKey,
  { rawItem, rawVariation, rawSubevent }: Pick<FailedScan, "rawItem" | "rawVariation" | "rawSubevent">,
): Promise<{ readonly item: boolean; readonly variation: boolean; readonly subevent: boolean }> {
  return tx.one<{ item: boolean; variation: boolean; subevent: boolean }>(sql`
    select ${rawItem}::bigint is null
           or exists (select from item
                       where item.organizer = ${organizer}
                         and item.event = ${event}
                         and item.id = ${rawItem}) as item,
           ${rawVariation}::bigint is null
           or exists (select from item
                       where item.organizer = ${organizer}
                         and item.event = ${event}
                         and item.variations @> jsonb_build_array(jsonb_build_object('id', ${rawVariation}::bigint)))
           as variation,
           ${rawSubevent}::bigint is null
           or exists (select from subevent
                       where subevent.organizer = ${organizer}
                         and subevent.event = ${event}
                         and subevent.id = ${rawSubevent}) as subevent`);
}

/** The key of a refusal, besides its nonce. */
export type SameAs =
  /** The position was found by its code; on whatever list. */
  { readonly position: number } | { readonly list: number; readonly rawCode: string };

/**
 * Finds a refusal with a nonce, of any device. A refusal whose code was deleted equals any of its list, and is shown
 * with the code of the repeated report.
 */
export async function findFailedScan(
  tx: Queryable,
  { organizer, event }: EventKey,
  { nonce, rawCode, same }: { readonly nonce: string; readonly rawCode: string; readonly same: SameAs },
): Promise<FailedScan | undefined> {
  const likeness =
    "position" in same
      ? sql`scan.position = ${same.position}`
      : sql`scan.list = ${same.list} and coalesce(scan.raw_code, ${same.rawCode}) = ${same.rawCode}`;
  return tx.maybeOne<FailedScan>(sql`
    select scan.reason, scan.explanation, coalesce(scan.raw_code, ${rawCode}) as "rawCode",
           scan.source_type as "sourceType", scan.raw_item as "rawItem", scan.raw_variation as "rawVariation",
           scan.raw_subevent as "rawSubevent", scan.nonce, scan.at, scan.type, scan.position
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.nonce = ${nonce}
       and not scan.successful
       and ${likeness}
     order by scan.id
     limit 1`);
}

export async function nextScanId(tx: Queryable): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval('scan_id') as id`);
  return id;
}

/** Codes deleted at a time, so that a statement is quick. */
export const mostCodes = 5000;

/** Deletes the codes of scans that were refused this many days ago; returns how many. */
export async function forgetCodes(db: Queryable, { days }: { readonly days: number }): Promise<number> {
  return db.run(sql`
    update scan
       set raw_code = null
     where scan.ctid = any(array(
             select held.ctid
               from scan as held
              where held.raw_code is not null
                and not held.successful
                and held.created_at < now() - make_interval(days => ${days})
              order by held.created_at
              limit ${mostCodes}
                for update skip locked))`);
}

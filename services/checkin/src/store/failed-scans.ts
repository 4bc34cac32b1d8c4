import type { Queryable } from "@tessera/kit/pg/database";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { sql } from "@tessera/kit/pg/sql";
import type { FailedScan } from "../domain/failed-scan.ts";
import type { ScanType } from "../domain/presence.ts";
import { indexedSecret } from "./indexed-secret.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const nonceLock = declareLock("tessera failed scan");

/**
 * Locks a nonce until the transaction ends: each sees whether the one before has
 * stored it. No unique index can say that,
 * because what a nonce is compared with depends on how the ticket was found.
 */
export async function lockNonce(tx: Queryable, { organizer, event, nonce }: EventKey & { nonce: string }) {
  await takeLocks(tx, { alone: [nonceLock(organizer, event, nonce)] });
}

/** Holds a position so that it does not go, and take its scans along, before this one is among them. Tells whether it is there. */
export async function holdPosition(tx: Queryable, { organizer, event, id }: EntityKey): Promise<boolean> {
  const held = await tx.run(sql`
    select position.id
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = ${id}
       for key share`);
  return held > 0;
}

/** Finds the position that has a code for its secret, and holds it likewise. Of several, one that is not canceled. */
export async function holdPositionWithSecret(
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

/** Holds a list so that it is not deleted, with its scans, before this one is among them. Tells whether it is there. */
export async function holdList(tx: Queryable, { organizer, event, id }: EntityKey): Promise<boolean> {
  const held = await tx.run(sql`
    select list.id
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = ${id}
       for key share`);
  return held > 0;
}

/** Tells which of the things that a device took a code for belong to the event; null does. */
export async function findWhatIsKnown(
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

/** What a refusal has in common with one that was stored before, besides its nonce. */
export type SameAs =
  /** Its position was found by its code; on whatever list. */
  { readonly position: number } | { readonly list: number; readonly rawCode: string };

interface Row {
  reason: string;
  explanation: string | null;
  raw_code: string | null;
  source_type: string;
  raw_item: number | null;
  raw_variation: number | null;
  raw_subevent: number | null;
  at: number;
  type: ScanType;
  position: number | null;
}

/** Finds a refusal with a nonce, of any device. One without a code is shown with that of the scan that looks for it. */
export async function findFailedScan(
  tx: Queryable,
  { organizer, event }: EventKey,
  { nonce, rawCode, same }: { readonly nonce: string; readonly rawCode: string; readonly same: SameAs },
): Promise<FailedScan | undefined> {
  const likeness =
    "position" in same
      ? sql`scan.position = ${same.position}`
      : sql`scan.list = ${same.list} and scan.raw_code = ${same.rawCode}`;
  const row = await tx.maybeOne<Row>(sql`
    select scan.reason, scan.explanation, scan.raw_code, scan.source_type, scan.raw_item, scan.raw_variation,
           scan.raw_subevent, scan.at, scan.type, scan.position
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.nonce = ${nonce}
       and not scan.successful
       and ${likeness}
     order by scan.id
     limit 1`);
  if (row === undefined) return undefined;
  return {
    reason: row.reason,
    explanation: row.explanation,
    rawCode: row.raw_code ?? rawCode,
    sourceType: row.source_type,
    rawItem: row.raw_item,
    rawVariation: row.raw_variation,
    rawSubevent: row.raw_subevent,
    nonce,
    at: row.at,
    type: row.type,
    position: row.position,
  };
}

/** Takes an id for a new scan. */
export async function nextScanId(tx: Queryable): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval('scan_id') as id`);
  return id;
}

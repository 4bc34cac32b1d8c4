import type { Queryable } from "@tessera/kit/pg/database";
import { type EventKey, eventKey } from "@tessera/kit/pg/entity-key";
import { sql } from "@tessera/kit/pg/sql";
import { rowsAs } from "@tessera/kit/pg/table";
import type { Named } from "../domain/named.ts";
import type { ServiceParts } from "../domain/progress.ts";
import type { Export } from "./exports.ts";

/** A case of the ledger. Instants are microseconds since 1970. */
export interface ShredCase extends Named {
  readonly file: string;
  readonly export: string;
  readonly kinds: readonly string[];
  readonly instance: string;
  readonly exportSha256: string;
  readonly exportedAt: number;
  readonly startedAt: number;
  readonly requestedAt: number | null;
  readonly erasedAt: number | null;
  readonly failedAt: number | null;
  readonly parts: readonly ServiceParts[] | null;
}

const columns = sql`
  shred_case.organizer, shred_case.event, shred_case.id, shred_case.file, shred_case.export, shred_case.kinds,
  shred_case.instance, shred_case.export_sha256 as "exportSha256", shred_case.exported_at as "exportedAt",
  shred_case.started_at as "startedAt", shred_case.requested_at as "requestedAt", shred_case.erased_at as "erasedAt",
  shred_case.failed_at as "failedAt",
  shred_case.parts`;

const named = ({ organizer, event, id }: Named) => sql`
  shred_case.organizer = ${organizer} and shred_case.event = ${event} and shred_case.id = ${id}::uuid`;

/** Opens the case of an export; the one that is there, unless it has failed. */
export async function openCase(
  tx: Queryable,
  exported: Export,
  row: { readonly id: string; readonly file: string; readonly credential: string },
): Promise<{ readonly id: string; readonly file: string }> {
  await tx.run(sql`
    insert into shred_case (organizer, event, id, file, export, credential, kinds, instance, export_sha256, exported_at)
    select export.organizer, export.event, ${row.id}::uuid, ${row.file}::uuid, export.id, ${row.credential}, export.kinds,
           export.instance, export.sha256, export.started_at
      from export
     where export.organizer = ${exported.organizer}
       and export.event = ${exported.event}
       and export.id = ${exported.id}::uuid
        on conflict (organizer, event, export) where failed_at is null do nothing`);
  return tx.one(sql`
    select shred_case.id, shred_case.file
      from shred_case
     where shred_case.organizer = ${exported.organizer}
       and shred_case.event = ${exported.event}
       and shred_case.export = ${exported.id}::uuid
       and shred_case.failed_at is null`);
}

export async function readCase(db: Queryable, of: Named): Promise<ShredCase> {
  return db.one<ShredCase>(sql`select ${columns} from shred_case where ${named(of)}`);
}

/** Finds a case of the ledger. */
export function findCase(db: Queryable, of: Named): Promise<ShredCase | undefined> {
  return db.maybeOne<ShredCase>(sql`select ${columns} from shred_case where ${named(of)}`);
}

/** Finds a case by all parts of its address, for the one who asked for it. */
export function findOwnCase(
  db: Queryable,
  of: Named & { readonly file: string; readonly credential: string },
): Promise<ShredCase | undefined> {
  return db.maybeOne<ShredCase>(sql`
    select ${columns}
      from shred_case
     where ${named(of)}
       and shred_case.file = ${of.file}::uuid
       and shred_case.credential = ${of.credential}`);
}

/** Notes that services are asked now; false: they were asked before. */
export async function noteRequested(tx: Queryable, of: Named): Promise<boolean> {
  const noted = await tx.run(sql`
    update shred_case
       set requested_at = clock_timestamp()
     where ${named(of)}
       and shred_case.requested_at is null
       and shred_case.failed_at is null`);
  return noted > 0;
}

/** Notes that all services have erased their parts. */
export async function noteErased(tx: Queryable, of: Named, parts: readonly ServiceParts[]): Promise<void> {
  await tx.run(sql`
    update shred_case
       set erased_at = clock_timestamp(), parts = ${JSON.stringify(parts)}::jsonb
     where ${named(of)}`);
}

/** Notes that a case was refused before anything was erased. */
export async function noteFailed(tx: Queryable, of: Named): Promise<void> {
  await tx.run(sql`
    update shred_case
       set failed_at = clock_timestamp()
     where ${named(of)}
       and shred_case.requested_at is null`);
}

/** Reads the next cases whose services were asked, of events that still exist, in the order of their keys. */
export function nextRequested(
  db: Queryable,
  { after, limit }: { readonly after: Named | undefined; readonly limit: number },
): Promise<(Named & { readonly kinds: readonly string[] })[]> {
  const isBehind =
    after === undefined
      ? sql`true`
      : sql`(shred_case.organizer, shred_case.event, shred_case.id) > (${after.organizer}, ${after.event}, ${after.id}::uuid)`;
  return db.many(sql`
    select shred_case.organizer, shred_case.event, shred_case.id, shred_case.kinds
      from shred_case
     where shred_case.requested_at is not null
       and shred_case.event_gone_at is null
       and ${isBehind}
     order by shred_case.organizer, shred_case.event, shred_case.id
     limit ${limit}`);
}

/** Counts those cases. */
export async function countRequested(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::bigint as count
      from shred_case
     where shred_case.requested_at is not null
       and shred_case.event_gone_at is null`);
  return count;
}

/** Notes that events were deleted. */
export async function noteEventsGone(tx: Queryable, events: readonly EventKey[]): Promise<void> {
  if (events.length === 0) return;
  await tx.run(sql`
    update shred_case
       set event_gone_at = clock_timestamp()
      from ${rowsAs("gone", eventKey, events)}
     where shred_case.organizer = gone.organizer
       and shred_case.event = gone.event
       and shred_case.event_gone_at is null`);
}

import { type EventKey, eventKey } from "@tessera/events/entity-key";
import type { Queryable } from "@tessera/kit/pg/database";
import { literal, sql } from "@tessera/kit/pg/sql";
import { instant, rowsAs } from "@tessera/kit/pg/table";
import type { Named } from "../domain/named.ts";
import type { ServiceParts } from "../domain/progress.ts";
import { retentionCredential } from "../domain/retention.ts";
import type { Export } from "./exports.ts";
import { casesOf, isOfPresent } from "./present-cases.ts";

/** A case of the ledger. Instants are microseconds since 1970. */
export interface ShredCase extends Named {
  readonly file: string;
  readonly export: string;
  /** Who asked for it. */
  readonly credential: string;
  readonly kinds: readonly string[];
  readonly instance: string;
  readonly exportSha256: string;
  readonly exportedAt: number;
  readonly exportMadeAt: number | null;
  /** The kind and the id of the credential that asked. */
  readonly requestedBy: string | null;
  readonly startedAt: number;
  /** How long ago it was requested, or else begun, in milliseconds. */
  readonly ageMs: number;
  readonly requestedAt: number | null;
  readonly erasedAt: number | null;
  readonly failedAt: number | null;
  /** Why it was refused, for people. */
  readonly problem: string | null;
  readonly eventGoneAt: number | null;
  readonly parts: readonly ServiceParts[] | null;
}

const columns = sql`
  shred_case.organizer, shred_case.event, shred_case.id, shred_case.file, shred_case.export, shred_case.credential,
  shred_case.kinds, shred_case.instance, shred_case.export_sha256 as "exportSha256", shred_case.exported_at as "exportedAt",
  shred_case.export_made_at as "exportMadeAt", shred_case.requested_by as "requestedBy",
  shred_case.started_at as "startedAt",
  (extract(epoch from clock_timestamp() - coalesce(shred_case.requested_at, shred_case.started_at)) * 1000)::float8 as "ageMs", shred_case.requested_at as "requestedAt", shred_case.erased_at as "erasedAt",
  shred_case.failed_at as "failedAt", shred_case.event_gone_at as "eventGoneAt",
  shred_case.problem,
  shred_case.parts`;

const named = ({ organizer, event, id }: Named) => sql`
  shred_case.organizer = ${organizer} and shred_case.event = ${event} and shred_case.id = ${id}::uuid`;

/** Opens the case of an export; the one that is there, unless it has failed. Undefined: the export is gone. */
export function openCase(
  tx: Queryable,
  exported: Export,
  row: { readonly id: string; readonly file: string; readonly credential: string; readonly requestedBy: string },
): Promise<{ readonly id: string; readonly file: string } | undefined> {
  // One statement: a case that is there stays locked, so it fails before or after that.
  return tx.maybeOne(sql`
    insert into shred_case (organizer, event, id, file, export, credential, kinds, instance, export_sha256, exported_at,
                            export_made_at, requested_by)
    select export.organizer, export.event, ${row.id}::uuid, ${row.file}::uuid, export.id, ${row.credential}, export.kinds,
           export.instance, export.sha256, export.started_at, export.made_at, ${row.requestedBy}
      from export
     where export.organizer = ${exported.organizer}
       and export.event = ${exported.event}
       and export.id = ${exported.id}::uuid
        on conflict (organizer, event, export) where failed_at is null do update
       set file = shred_case.file
    returning shred_case.id, shred_case.file`);
}

export async function readCase(db: Queryable, of: Named): Promise<ShredCase> {
  return db.one<ShredCase>(sql`select ${columns} from shred_case where ${named(of)}`);
}

/** Finds a case of the ledger; without an event, in any of the organizer, also in one that was deleted since. */
export function findCase(
  db: Queryable,
  { organizer, event, id }: Pick<Named, "organizer" | "id"> & { readonly event: string | undefined },
): Promise<ShredCase | undefined> {
  return db.maybeOne<ShredCase>(sql`
    select ${columns}
      from shred_case
     where shred_case.organizer = ${organizer}
       and shred_case.id = ${id}::uuid
       and ${event === undefined ? sql`true` : casesOf({ organizer, event })}`);
}

/** Finds a case by all parts of its address, for the one who asked for it, unless its event was deleted. */
export function findOwnCase(
  db: Queryable,
  of: Named & { readonly file: string; readonly credential: string },
): Promise<ShredCase | undefined> {
  return db.maybeOne<ShredCase>(sql`
    select ${columns}
      from shred_case
     where ${named(of)}
       and shred_case.file = ${of.file}::uuid
       and shred_case.credential = ${of.credential}
       and ${isOfPresent}`);
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

/** Notes that services are asked again; false: they were asked a short time ago. */
export async function noteRepeated(
  tx: Queryable,
  of: Named,
  { afterMs }: { readonly afterMs: number },
): Promise<boolean> {
  const noted = await tx.run(sql`
    update shred_case
       set repeated_at = clock_timestamp()
     where ${named(of)}
       and ${isOfPresent}
       and coalesce(shred_case.repeated_at, shred_case.requested_at)
           < clock_timestamp() - make_interval(secs => ${afterMs}::float8 / 1000)`);
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
export async function noteFailed(tx: Queryable, of: Named, problem: string): Promise<void> {
  await tx.run(sql`
    update shred_case
       set failed_at = clock_timestamp(), problem = ${problem}
     where ${named(of)}
       and shred_case.requested_at is null`);
}

/** Reads the next cases whose services were asked, of events that still exist, in the order of their keys. */
export function nextRequested(
  db: Queryable,
  { after, limit }: { readonly after: Named | undefined; readonly limit: number },
): Promise<(Named & { readonly kinds: readonly string[]; readonly requestedAt: number })[]> {
  const isBehind =
    after === undefined
      ? sql`true`
      : sql`(shred_case.organizer, shred_case.event, shred_case.id) > (${after.organizer}, ${after.event}, ${after.id}::uuid)`;
  return db.many(sql`
    select shred_case.organizer, shred_case.event, shred_case.id, shred_case.kinds, shred_case.requested_at as "requestedAt"
      from shred_case
     where shred_case.requested_at is not null
       and ${isOfPresent}
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
       and ${isOfPresent}`);
  return count;
}

/** Notes that events were deleted at these instants, in microseconds since 1970: a later case is of another event with the name. */
export async function noteEventsGone(
  tx: Queryable,
  events: readonly (EventKey & { readonly at: number })[],
): Promise<void> {
  if (events.length === 0) return;
  await tx.run(sql`
    update shred_case
       set event_gone_at = clock_timestamp()
      from ${rowsAs("gone", { ...eventKey, at: instant }, events)}
     where shred_case.organizer = gone.organizer
       and shred_case.event = gone.event
       and shred_case.started_at < gone.at
       and ${isOfPresent}`);
}

/** The credential is a literal: a plan for any value would not use the index of these cases. */
const ofRetention = (organizer: string) => sql`
  shred_case.organizer = ${organizer}
  and shred_case.credential = ${literal(retentionCredential)}
  and shred_case.erased_at is not null
  and ${isOfPresent}`;

/** Counts the erasures that the retention of an organizer has made, of events that still exist. */
export async function countErased(db: Queryable, organizer: string): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count from shred_case where ${ofRetention(organizer)}`);
  return count;
}

/** Reads a page of them, the last one first. */
export function pageErased(
  db: Queryable,
  page: { readonly organizer: string; readonly limit: number; readonly offset: number },
): Promise<(Named & { readonly kinds: readonly string[]; readonly erasedAt: number })[]> {
  return db.many(sql`
    select shred_case.organizer, shred_case.event, shred_case.id, shred_case.kinds, shred_case.erased_at as "erasedAt"
      from shred_case
     where ${ofRetention(page.organizer)}
     order by shred_case.erased_at desc, shred_case.id
     limit ${page.limit}
    offset ${page.offset}`);
}

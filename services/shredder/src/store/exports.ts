import { type EventKey, eventKey } from "@tessera/events/entity-key";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { instant, rowsAs, text, uuid } from "@tessera/kit/pg/table";
import type { Named } from "../domain/named.ts";
import { casesOf } from "./present-cases.ts";

export interface Export extends Named {
  readonly file: string;
  readonly kinds: readonly string[];
  readonly instance: string;
  /** In microseconds since 1970. */
  readonly startedAt: number;
  /** By service; null: it has not begun. */
  readonly versions: Readonly<Record<string, string>> | null;
  /** Null: it is not made yet, or its data was erased. */
  readonly fileKey: string | null;
  readonly sha256: string | null;
}

/** Stores an export that is asked for. */
export async function insertExport(
  tx: Queryable,
  row: Pick<Export, keyof Named | "file" | "kinds" | "instance"> & { readonly credential: string },
): Promise<void> {
  await tx.run(sql`
    insert into export (organizer, event, id, file, credential, kinds, instance)
    values (${row.organizer}, ${row.event}, ${row.id}::uuid, ${row.file}::uuid, ${row.credential}, ${row.kinds}::text[],
            ${row.instance})`);
}

const columns = sql`
  export.organizer, export.event, export.id, export.file, export.kinds, export.instance, export.versions,
  export.started_at as "startedAt", export.file_key as "fileKey", export.sha256`;

const named = ({ organizer, event, id }: Named) => sql`
  export.organizer = ${organizer} and export.event = ${event} and export.id = ${id}::uuid`;

export function findExport(db: Queryable, of: Named): Promise<Export | undefined> {
  return db.maybeOne<Export>(sql`select ${columns} from export where ${named(of)}`);
}

/** Finds an export by all parts of its address, for the one who asked for it. */
export function findOwnExport(
  db: Queryable,
  { file, credential, ...of }: Named & { readonly file: string; readonly credential: string },
): Promise<Export | undefined> {
  return db.maybeOne<Export>(sql`
    select ${columns}
      from export
     where ${named(of)}
       and export.file = ${file}::uuid
       and export.credential = ${credential}`);
}

/** Stores what services said of the event before anything was read. */
export async function storeVersions(
  tx: Queryable,
  of: Named,
  versions: Readonly<Record<string, string>>,
): Promise<void> {
  await tx.run(sql`
    update export set versions = ${JSON.stringify(versions)}::jsonb where ${named(of)}`);
}

/** Whether a case erases, or has erased, what an export holds that began before its end. */
const isErased = sql`
  exists (select
            from shred_case
           where ${casesOf({ organizer: sql`export.organizer`, event: sql`export.event` })}
             and (shred_case.export = export.id or shred_case.kinds && export.kinds)
             and shred_case.requested_at is not null
             and coalesce(shred_case.erased_at, now()) > export.started_at)`;

/** Stores where the file of an export is; false: meanwhile the event was erased, and the file must go. */
export async function storeFile(
  tx: Queryable,
  of: Named,
  file: { readonly fileKey: string; readonly sha256: string },
): Promise<boolean> {
  const stored = await tx.run(sql`
    update export
       set file_key = ${file.fileKey}, sha256 = ${file.sha256}, made_at = clock_timestamp()
     where ${named(of)}
       and not ${isErased}`);
  return stored > 0;
}

/** Finds those of some keys that are files of exports. */
export async function findNamedFiles(db: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ fileKey: string }>(sql`
    select export.file_key as "fileKey"
      from export
     where export.file_key = any(${keys}::text[])`);
  return new Set(rows.map(({ fileKey }) => fileKey));
}

/** Finds those of some files, by their keys and exports, that exports of an event name or may still name. */
export async function findNameable(
  db: Queryable,
  { organizer, event }: EventKey,
  files: readonly { readonly key: string; readonly export: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ key: string }>(sql`
    select file.key
      from ${rowsAs("file", { key: text, export: uuid }, files)}
      join export
        on export.organizer = ${organizer} and export.event = ${event} and export.id = file.export
     where export.file_key = file.key
        or not ${isErased}`);
  return new Set(rows.map(({ key }) => key));
}

/** Deletes exports that are older than so many hours, and returns the keys of their files. */
export async function deleteOldExports(
  db: Queryable,
  { hours, most }: { readonly hours: number; readonly most: number },
): Promise<(string | null)[]> {
  const rows = await db.many<{ fileKey: string | null }>(sql`
    delete from export
     where (export.organizer, export.event, export.id) in (
             select old.organizer, old.event, old.id
               from export as old
              where old.started_at < now() - make_interval(hours => ${hours})
              order by old.started_at
              limit ${most})
    returning export.file_key as "fileKey"`);
  return rows.map(({ fileKey }) => fileKey);
}

/** Deletes the exports of events that were begun before these instants, in microseconds since 1970, and returns the keys of their files. */
export async function deleteExportsUntil(
  tx: Queryable,
  events: readonly (EventKey & { readonly at: number })[],
): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = await tx.many<{ fileKey: string | null }>(sql`
    delete from export
     using ${rowsAs("gone", { ...eventKey, at: instant }, events)}
     where export.organizer = gone.organizer
       and export.event = gone.event
       and export.started_at < gone.at
    returning export.file_key as "fileKey"`);
  return rows.flatMap(({ fileKey }) => fileKey ?? []);
}

/** The exports of an event with files that hold what a case erases. */
const holdingErased = ({ organizer, event }: EventKey) => sql`
  export.organizer = ${organizer} and export.event = ${event} and export.file_key is not null and ${isErased}`;

/** Finds the files of these exports. They are removed before they are forgotten, or a crash would leave them. */
export async function findFiles(db: Queryable, of: EventKey): Promise<string[]> {
  const rows = await db.many<{ fileKey: string }>(sql`
    select export.file_key as "fileKey" from export where ${holdingErased(of)}`);
  return rows.map(({ fileKey }) => fileKey);
}

/** Forgets these files. */
export async function forgetFiles(tx: Queryable, of: EventKey, files: readonly string[]): Promise<void> {
  await tx.run(sql`
    update export set file_key = null where ${holdingErased(of)} and export.file_key = any(${files}::text[])`);
}

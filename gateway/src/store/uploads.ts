import type { Queryable } from "@tessera/kit/pg/database";
import { isErased } from "@tessera/kit/pg/erased-kinds";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { isUuid } from "@tessera/values";
import type { CredentialKind } from "./credentials.ts";
import type { EventName } from "./events.ts";

/** The folder of all uploads in the file store. */
export const uploadsPrefix = "uploads/";

/** The key of an upload's file. It contains the random id, so it cannot be guessed. */
export function keyOf(id: string): string {
  return uploadsPrefix + id;
}

/** The id of the upload that a key belongs to; undefined for any other key. */
export function idAt(key: string): string | undefined {
  const id = key.slice(uploadsPrefix.length);
  return key.startsWith(uploadsPrefix) && isUuid(id) ? id : undefined;
}

/** A file that was sent, its sender, and until when the sender may name it. */
export interface Upload {
  readonly id: string;
  readonly organizer: string;
  readonly credentialKind: CredentialKind;
  readonly credentialId: string;
  readonly fileName: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The request under an idempotency key that sent it. */
  readonly requestId?: string | undefined;
}

/** Who has sent an upload. */
export type UploadOwner = Pick<Upload, "organizer" | "credentialKind" | "credentialId">;

/** Records a file that is stored; returns its id, or that of the file which the same request has recorded before. */
export async function insertUpload(db: Queryable, upload: Upload): Promise<string> {
  const { id } = await db.one<{ id: string }>(sql`
    insert into upload (id, organizer, credential_kind, credential_id, file_name, content_type, size, sha256,
                        created_at, expires_at, request_id)
    values (${upload.id}, ${upload.organizer}, ${upload.credentialKind}, ${upload.credentialId}, ${upload.fileName},
            ${upload.contentType}, ${upload.size}, decode(${upload.sha256}, 'hex'),
            ${toTimestamp(upload.createdAt)}, ${toTimestamp(upload.expiresAt)}, ${upload.requestId ?? null})
        on conflict (request_id) do update
       set request_id = excluded.request_id
    returning upload.id`);
  return id;
}

/** What the reader of an upload needs to copy it. */
type NamedUpload = Pick<Upload, "id" | "fileName" | "contentType" | "size" | "sha256">;

interface NamedRow {
  readonly id: string;
  readonly file_name: string;
  readonly content_type: string;
  readonly size: number;
  readonly sha256: string;
}

/** Returns the given uploads that a caller may name now. */
export async function findUploads(
  db: Queryable,
  options: UploadOwner & { readonly ids: readonly string[]; readonly now: number },
): Promise<NamedUpload[]> {
  const { organizer, credentialKind, credentialId, now } = options;
  const ids = options.ids.filter(isUuid);
  if (ids.length === 0) return [];
  const rows = await db.many<NamedRow>(sql`
    select id, file_name, content_type, size, encode(sha256, 'hex') as sha256
      from upload
     where id = any (${ids}::uuid[])
       and organizer = ${organizer}
       and credential_kind = ${credentialKind}
       and credential_id = ${credentialId}
       and expires_at > ${toTimestamp(now)}`);
  return rows.map(({ file_name: fileName, content_type: contentType, ...row }) => ({ ...row, fileName, contentType }));
}

/** An upload that a stored answer names. */
export interface NamingAnswer {
  readonly organizer: string;
  readonly event: string;
  readonly upload: string;
}

/**
 * Keeps the uploads that stored answers name until their reader has had time to copy them. Each is prolonged once. Where the
 * answers of the event were erased, it expires at once.
 */
export async function keepNamed(
  tx: Queryable,
  {
    answers,
    now,
    keepUntil,
  }: { readonly answers: readonly NamingAnswer[]; readonly now: number; readonly keepUntil: number },
): Promise<void> {
  const named = answers.filter(({ upload }) => isUuid(upload));
  if (named.length === 0) return;
  await tx.run(sql`
    update upload
       set named_at = ${toTimestamp(now)},
           event = case when not told.is_erased then answer.event end,
           expires_at = case when told.is_erased
                             then ${toTimestamp(now)}::timestamptz
                             else greatest(upload.expires_at, ${toTimestamp(keepUntil)}::timestamptz) end
      from unnest(${named.map(({ organizer }) => organizer)}::text[],
                  ${named.map(({ event }) => event)}::text[],
                  ${named.map(({ upload }) => upload)}::uuid[]) as answer (organizer, event, upload)
     cross join lateral (
       select ${isErased({ organizer: sql`answer.organizer`, event: sql`answer.event` }, ["question_answers"])} as is_erased) as told
     where upload.id = answer.upload
       and upload.organizer = answer.organizer
       and upload.named_at is null`);
}

/** How much has been sent and not been named by a stored answer. */
export interface Outstanding {
  readonly files: number;
  /** In bytes. */
  readonly size: number;
}

/** Counts the uploads of an organizer, and those of one of its credentials among them, that no stored answer names. */
export async function countOutstanding(
  db: Queryable,
  { organizer, credentialKind, credentialId, now }: UploadOwner & { readonly now: number },
): Promise<{ readonly organizer: Outstanding; readonly credential: Outstanding }> {
  const isOwn = sql`filter (where credential_kind = ${credentialKind} and credential_id = ${credentialId})`;
  const row = await db.one<{ files: number; size: number; own_files: number; own_size: number }>(sql`
    select count(*) as files, coalesce(sum(size), 0)::bigint as size,
           count(*) ${isOwn} as own_files, coalesce(sum(size) ${isOwn}, 0)::bigint as own_size
      from upload
     where organizer = ${organizer}
       and named_at is null
       and expires_at > ${toTimestamp(now)}`);
  return {
    organizer: { files: row.files, size: row.size },
    credential: { files: row.own_files, size: row.own_size },
  };
}

/** The expired uploads, the oldest first. One that no answer has named may still turn out to be named, until the grace ends. */
export async function findExpired(
  db: Queryable,
  { now, graceMicros, most }: { readonly now: number; readonly graceMicros: number; readonly most: number },
): Promise<string[]> {
  const rows = await db.many<{ id: string }>(sql`
    select id
      from upload
     where expires_at <= ${toTimestamp(now)}
       and (named_at is not null or expires_at <= ${toTimestamp(now - graceMicros)})
     order by expires_at
     limit ${most}`);
  return rows.map(({ id }) => id);
}

/** The given ids that are uploads. */
export async function findRecorded(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`select id from upload where id = any (${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

/** Finds uploads that stored answers of an event name. */
export async function findOfEvent(
  db: Queryable,
  { organizer, event }: EventName,
  { most }: { readonly most: number },
): Promise<string[]> {
  const rows = await db.many<{ id: string }>(sql`
    select upload.id
      from upload
     where upload.organizer = ${organizer}
       and upload.event = ${event}
     limit ${most}`);
  return rows.map(({ id }) => id);
}

/** Counts the uploads that stored answers of an event name. */
export async function countOfEvent(db: Queryable, { organizer, event }: EventName): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from upload
     where upload.organizer = ${organizer}
       and upload.event = ${event}`);
  return count;
}

/** Deletes the rows of uploads. */
export async function deleteUploads(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.run(sql`delete from upload where id = any (${ids}::uuid[])`);
}

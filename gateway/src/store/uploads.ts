import { isErased } from "@tessera/events/personal-data/erased-kinds";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { isUuid } from "@tessera/values";
import type { CallerKind } from "./credentials.ts";
import type { EventName } from "./events.ts";

/** The folder of all uploads in the file store. */
export const uploadsPrefix = "uploads/";

/** The file key of an upload. It contains the random id, so it cannot be guessed. */
export function keyOf(id: string): string {
  return uploadsPrefix + id;
}

/** The id of the upload that a key belongs to; undefined for any other key. */
export function idAt(key: string): string | undefined {
  const id = key.slice(uploadsPrefix.length);
  return key.startsWith(uploadsPrefix) && isUuid(id) ? id : undefined;
}

/** A received file, its sender, and until when the sender may name it. */
export interface Upload {
  readonly id: string;
  readonly organizer: string;
  readonly credentialKind: CallerKind;
  readonly credentialId: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The request under an idempotency key that sent it. */
  readonly requestId?: string | undefined;
}

export type UploadOwner = Pick<Upload, "organizer" | "credentialKind" | "credentialId">;

/** Records a stored file; returns its id, or the id of the file that the same request has recorded before. */
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

/** The fields that the consumer of an upload needs to copy it. */
type NamedUpload = Pick<Upload, "id" | "fileName" | "contentType" | "size" | "sha256">;

interface NamedRow {
  readonly id: string;
  readonly file_name: string;
  readonly content_type: string;
  readonly size: number;
  readonly sha256: string;
}

/** Returns which of these uploads a caller may name now. */
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

export interface NamingAnswer {
  readonly organizer: string;
  readonly event: string;
  readonly upload: string;
}

/**
 * Keeps the uploads that stored answers name until their consumer has had time to copy them. Each is prolonged once. If
 * the answers of all events that name an upload were erased, it expires at once.
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
  const told = sql`
    (select answer.organizer, answer.event, answer.upload,
            ${isErased({ organizer: sql`answer.organizer`, event: sql`answer.event` }, ["question_answers"])} as is_erased
       from unnest(${named.map(({ organizer }) => organizer)}::text[],
                   ${named.map(({ event }) => event)}::text[],
                   ${named.map(({ upload }) => upload)}::uuid[]) as answer (organizer, event, upload))`;
  await tx.run(sql`
    update upload
       set named_at = ${toTimestamp(now)},
           event = case when not first.is_erased then first.event end,
           expires_at = case when first.is_erased
                             then ${toTimestamp(now)}::timestamptz
                             else greatest(upload.expires_at, ${toTimestamp(keepUntil)}::timestamptz) end
      from (select distinct on (told.organizer, told.upload) told.organizer, told.event, told.upload, told.is_erased
              from ${told} as told
             order by told.organizer, told.upload, told.is_erased) as first
     where upload.id = first.upload
       and upload.organizer = first.organizer
       and (upload.named_at is null or (upload.event is null and not first.is_erased))`);
  // The lock keeps an upload from being deleted before this is stored.
  await tx.run(sql`
    insert into further_naming (upload, event)
    select upload.id, told.event
      from upload
      join ${told} as told
        on upload.id = told.upload and upload.organizer = told.organizer
     where upload.event <> told.event
       and not told.is_erased
       for key share of upload
        on conflict do nothing`);
}

/** Expires uploads that an admitted scan named after the erasure of answers, which no fact mentions (D4.2). */
export async function expireDropped(
  db: Queryable,
  { organizer, event }: EventName,
  { ids, now }: { readonly ids: readonly string[]; readonly now: number },
): Promise<void> {
  await db.run(sql`
    update upload
       set named_at = ${toTimestamp(now)}, expires_at = ${toTimestamp(now)}
     where upload.id = any (${ids}::uuid[])
       and upload.organizer = ${organizer}
       and upload.named_at is null
       and ${isErased({ organizer: sql`${organizer}`, event: sql`${event}` }, ["question_answers"])}`);
}

/** The uploads that no stored answer names. */
export interface Outstanding {
  readonly files: number;
  /** In bytes. */
  readonly size: number;
}

/** Counts the uploads that no stored answer names: of an organizer, and of one of its credentials. */
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

/** The expired uploads, the oldest first; without an answer only after the grace period: a fact may still name it. */
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

export async function findRecorded(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`select id from upload where id = any (${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

/** Uploads that stored answers of an event name. */
const isNamedIn = ({ organizer, event }: EventName) => sql`
      upload.organizer = ${organizer}
  and (upload.event = ${event}
       or exists (select
                    from further_naming
                   where further_naming.upload = upload.id
                     and further_naming.event = ${event}))`;

/** Finds and locks uploads that stored answers of an event name. The lock serializes erasures of several events. */
export async function lockOfEvent(
  tx: Queryable,
  place: EventName,
  { most }: { readonly most: number },
): Promise<string[]> {
  const rows = await tx.many<{ id: string }>(sql`
    select upload.id
      from upload
     where ${isNamedIn(place)}
     order by upload.id
     limit ${most}
       for update of upload`);
  return rows.map(({ id }) => id);
}

/** Removes an event's references to locked uploads. Returns the uploads that other events still reference. */
export async function endNaming(
  tx: Queryable,
  { event }: EventName,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.many<{ id: string }>(sql`
    with promoted as (
      update upload
         set event = next.event
        from (select further_naming.upload, min(further_naming.event) as event
                from further_naming
               where further_naming.upload = any (${ids}::uuid[])
               group by further_naming.upload) as next
       where upload.id = next.upload
         and upload.event = ${event}
      returning upload.id, upload.event
    )
    delete from further_naming
     using upload
      left join promoted on promoted.id = upload.id
     where upload.id = any (${ids}::uuid[])
       and further_naming.upload = upload.id
       and further_naming.event = coalesce(promoted.event, ${event})
    returning upload.id`);
  return new Set(rows.map(({ id }) => id));
}

export async function countOfEvent(db: Queryable, place: EventName): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from upload
     where ${isNamedIn(place)}`);
  return count;
}

export async function deleteUploads(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.run(sql`delete from upload where id = any (${ids}::uuid[])`);
}

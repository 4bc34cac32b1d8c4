import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { isUuid } from "@tessera/values";
import type { CredentialKind } from "./credentials.ts";

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
}

/** Records a file that is stored. */
export async function insertUpload(db: Queryable, upload: Upload): Promise<void> {
  await db.run(sql`
    insert into upload (id, organizer, credential_kind, credential_id, file_name, content_type, size, sha256,
                        created_at, expires_at)
    values (${upload.id}, ${upload.organizer}, ${upload.credentialKind}, ${upload.credentialId}, ${upload.fileName},
            ${upload.contentType}, ${upload.size}, decode(${upload.sha256}, 'hex'),
            ${toTimestamp(upload.createdAt)}, ${toTimestamp(upload.expiresAt)})`);
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

/**
 * Returns the given uploads that a caller may name now, and keeps them until their reader has copied them. Their rows are
 * locked in one order, so that two callers that name the same uploads do not deadlock.
 */
export async function nameUploads(
  db: Queryable,
  options: Pick<Upload, "organizer" | "credentialKind" | "credentialId"> & {
    readonly ids: readonly string[];
    readonly now: number;
    readonly keepUntil: number;
  },
): Promise<NamedUpload[]> {
  const { organizer, credentialKind, credentialId, now, keepUntil } = options;
  const ids = options.ids.filter(isUuid);
  if (ids.length === 0) return [];
  const rows = await db.many<NamedRow>(sql`
    update upload
       set expires_at = greatest(expires_at, ${toTimestamp(keepUntil)}::timestamptz)
     where id in (select named.id
                    from upload as named
                   where named.id = any (${ids}::uuid[])
                     and named.organizer = ${organizer}
                     and named.credential_kind = ${credentialKind}
                     and named.credential_id = ${credentialId}
                     and named.expires_at > ${toTimestamp(now)}
                   order by named.id
                     for update)
    returning id, file_name, content_type, size, encode(sha256, 'hex') as sha256`);
  return rows.map(({ file_name: fileName, content_type: contentType, ...row }) => ({ ...row, fileName, contentType }));
}

/** The expired uploads, the oldest first. */
export async function findExpired(db: Queryable, { now, most }: { now: number; most: number }): Promise<string[]> {
  const rows = await db.many<{ id: string }>(sql`
    select id
      from upload
     where expires_at <= ${toTimestamp(now)}
     order by expires_at
     limit ${most}`);
  return rows.map(({ id }) => id);
}

/** The given ids that are uploads. */
export async function findRecorded(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`select id from upload where id = any (${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

/** Deletes the rows of uploads. */
export async function deleteUploads(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.run(sql`delete from upload where id = any (${ids}::uuid[])`);
}

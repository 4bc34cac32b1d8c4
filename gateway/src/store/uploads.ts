import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { CredentialKind } from "./credentials.ts";
import { idAt, keyOf } from "./file-key.ts";

/** A file that was sent, and who may name it until when. */
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

interface UploadRow {
  readonly id: string;
  readonly organizer: string;
  readonly credential_kind: CredentialKind;
  readonly credential_id: string;
  readonly file_name: string;
  readonly content_type: string;
  readonly size: number;
  readonly sha256: string;
  readonly created_at: number;
  readonly expires_at: number;
}

/**
 * Returns those of some uploads that a caller may name now, and keeps them until their reader has copied them. They are
 * locked in one order, so that two callers that name the same ones do not deadlock.
 */
export async function nameUploads(
  db: Queryable,
  options: Pick<Upload, "organizer" | "credentialKind" | "credentialId"> & {
    readonly ids: readonly string[];
    readonly now: number;
    readonly keepUntil: number;
  },
): Promise<Upload[]> {
  const { organizer, credentialKind, credentialId, now, keepUntil } = options;
  const ids = options.ids.filter((id) => idAt(keyOf(id)) !== undefined);
  if (ids.length === 0) return [];
  const rows = await db.many<UploadRow>(sql`
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
    returning id, organizer, credential_kind, credential_id, file_name, content_type, size,
              encode(sha256, 'hex') as sha256, created_at, expires_at`);
  return rows.map((row) => ({
    id: row.id,
    organizer: row.organizer,
    credentialKind: row.credential_kind,
    credentialId: row.credential_id,
    fileName: row.file_name,
    contentType: row.content_type,
    size: row.size,
    sha256: row.sha256,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
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

/** Those of some ids that are uploads. */
export async function findRecorded(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`select id from upload where id = any (${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

/** Forgets uploads. */
export async function forgetUploads(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.run(sql`delete from upload where id = any (${ids}::uuid[])`);
}

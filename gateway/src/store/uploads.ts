import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { CredentialKind } from "../access/caller.ts";

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

/** The uploads that nobody may name any more, the oldest first. */
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

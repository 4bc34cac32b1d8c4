import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";

export type CredentialKind = "api_key" | "device";

interface CredentialsOf {
  readonly organizer: string;
  readonly kind: CredentialKind;
}

export interface CredentialRow {
  readonly id: string;
  readonly tokenHash: Buffer | null;
  readonly document: string;
}

/** A record without a token leaves the one with which a scanner was set up. */
const nextToken = sql`
  case when excluded.token_hash is null and kept.machine is not null then kept.token_hash else excluded.token_hash end`;

/** A scanner that was set up knows better than a record what it runs. */
const nextData = sql`
  case when kept.machine is null then excluded.data
       else excluded.data || jsonb_build_object('software_brand', kept.machine -> 'software_brand')
  end`;

/** Stores credentials of one kind and returns new and changed ones. */
export function upsert<T>(
  tx: Tx,
  { organizer, kind, rows }: CredentialsOf & { rows: readonly CredentialRow[] },
): Promise<StoredCredential<T>[]> {
  return tx.many<StoredCredential<T>>(sql`
    insert into credential as kept (organizer, kind, id, token_hash, data, revision)
    select ${organizer}, ${kind}, incoming.id, incoming.token_hash, incoming.data, nextval('revision_seq')
      from rows from (unnest(${rows.map((row) => row.id)}::text[]),
                      unnest(${rows.map((row) => row.tokenHash)}::bytea[]),
                      jsonb_array_elements(${`[${rows.map((row) => row.document).join(",")}]`}::jsonb)) as incoming (id, token_hash, data)
     order by incoming.id
        on conflict (organizer, kind, id) do update
       set token_hash = ${nextToken},
           data = ${nextData},
           revision = nextval('revision_seq')
     where (kept.token_hash, kept.data) is distinct from (${nextToken}, ${nextData})
    returning kept.id, kept.token_hash as "tokenHash", kept.data, kept.revision`);
}

/**
 * Clears the tokens of credentials that get others in this transaction, so that credentials can swap tokens. The
 * placeholder is no possible hash.
 */
export async function freeTokens(
  tx: Tx,
  { organizer, kind, ids }: CredentialsOf & { ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    update credential
       set token_hash = convert_to(concat_ws('/', 'given up', credential.organizer, credential.kind, credential.id), 'UTF8')
     where credential.organizer = ${organizer}
       and credential.kind = ${kind}
       and credential.id = any(${ids}::text[])`);
}

/** The data that both kinds of credentials have. */
export interface StoredFields {
  readonly name: string;
  readonly all_events: boolean;
  readonly events: readonly string[];
  /** Of a device. */
  readonly gate?: number | null;
}

export interface StoredCredential<T> {
  readonly id: string;
  readonly tokenHash: Buffer | null;
  readonly data: T;
  readonly revision: number;
}

/** The columns of a StoredCredential. */
const stored = sql`credential.id, credential.token_hash as "tokenHash", credential.data, credential.revision`;

/** Gives a new revision to the devices at these gates and returns them: their facts contain the name of the gate. */
export function touchDevicesAt<T>(tx: Tx, organizer: string, gates: readonly number[]): Promise<StoredCredential<T>[]> {
  return tx.many<StoredCredential<T>>(sql`
    update credential
       set revision = nextval('revision_seq')
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and (credential.data ->> 'gate')::bigint = any(${gates}::bigint[])
    returning ${stored}`);
}

/** Finds the credentials of one kind that meet a condition. */
function findWhere<T>(
  db: Queryable,
  { organizer, kind }: CredentialsOf,
  condition: Sql,
): Promise<StoredCredential<T>[]> {
  return db.many<StoredCredential<T>>(sql`
    select ${stored}
      from credential
     where credential.organizer = ${organizer}
       and credential.kind = ${kind}
       and ${condition}`);
}

/** Finds at most two credentials whose ids have this prefix. */
export function findByPrefix<T>(
  db: Queryable,
  { prefix, ...of }: CredentialsOf & { prefix: string },
): Promise<StoredCredential<T>[]> {
  return findWhere(db, of, sql`starts_with(credential.id, ${prefix}) order by credential.id limit 2`);
}

export function find<T>(db: Queryable, { id, ...of }: CredentialsOf & { id: string }): Promise<StoredCredential<T>[]> {
  return findWhere(db, of, sql`credential.id = ${id}`);
}

/** Finds the credential of a token, if it belongs to this organizer and kind. */
export async function findByToken<T>(
  db: Queryable,
  { tokenHash, ...of }: CredentialsOf & { tokenHash: Buffer },
): Promise<StoredCredential<T> | undefined> {
  const [found] = await findWhere<T>(db, of, sql`credential.token_hash = ${tokenHash}`);
  return found;
}

export async function count(db: Queryable, { organizer, kind }: CredentialsOf): Promise<number> {
  const { rows } = await db.one<{ rows: number }>(sql`
    select count(*) as rows
      from credential
     where credential.organizer = ${organizer}
       and credential.kind = ${kind}`);
  return rows;
}

/** Reads a page of the credentials of one kind: devices by number, keys by name. */
export function page<T>(
  db: Queryable,
  { limit, offset, ...of }: CredentialsOf & { limit: number; offset: number },
): Promise<StoredCredential<T>[]> {
  return findWhere(
    db,
    of,
    sql`true
     order by (credential.data ->> 'device_id')::bigint, lower(credential.data ->> 'name'), credential.id
     limit ${limit}
    offset ${offset}`,
  );
}

/** Deletes credentials, and returns the ids of those that there were. The numbers of devices are not given again. */
export async function deleteCredentials(
  tx: Tx,
  { organizer, kind, ids }: CredentialsOf & { ids: readonly string[] },
): Promise<string[]> {
  if (kind === "device")
    await tx.run(sql`
      update organizer
         set last_device = greatest(organizer.last_device, (
               select max((credential.data ->> 'device_id')::bigint)
                 from credential
                where credential.organizer = ${organizer}
                  and credential.kind = 'device'
                  and credential.id = any(${ids}::text[])))
       where organizer.slug = ${organizer}`);
  const removed = await tx.many<{ id: string }>(sql`
    delete from credential
     where credential.organizer = ${organizer}
       and credential.kind = ${kind}
       and credential.id = any(${ids}::text[])
    returning credential.id`);
  return removed.map((row) => row.id);
}

/** Deletes all credentials of an organizer and returns their kinds and ids. */
export function deleteAll(tx: Tx, organizer: string): Promise<{ kind: CredentialKind; id: string }[]> {
  return tx.many<{ kind: CredentialKind; id: string }>(sql`
    delete from credential
     where credential.organizer = ${organizer}
    returning credential.kind, credential.id`);
}

/** Notes that no record brought a device: none may replace it. */
export async function noteMadeHere(tx: Tx, { organizer, id }: { organizer: string; id: string }): Promise<void> {
  await tx.run(sql`
    update credential
       set made_here = true
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and credential.id = ${id}`);
}

/** Finds which of these devices were made here. */
export async function findMadeHere(
  db: Queryable,
  { organizer, ids }: { organizer: string; ids: readonly string[] },
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`
    select credential.id
      from credential
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and credential.id = any(${ids}::text[])
       and credential.made_here`);
  return new Set(rows.map(({ id }) => id));
}

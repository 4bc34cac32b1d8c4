import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** An API key or a device, as stored. */
export interface Credential {
  readonly organizer: string;
  readonly kind: CredentialKind;
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly permissions: readonly string[];
  readonly allEvents: boolean;
  readonly events: readonly string[];
  /** False: an API key that was switched off, a device whose access was revoked. */
  readonly active: boolean;
  readonly device: Device | null;
}

export type CredentialKind = "api_key" | "device";

export interface Device {
  readonly deviceId: number;
  readonly gate: number | null;
  readonly securityProfile: string;
  readonly softwareBrand: string;
}

/** A credential as a fact reports it. */
export interface CredentialState extends Omit<Credential, "tokenHash"> {
  readonly revision: number;
  readonly name: string;
  /** Null: nothing authenticates as it. */
  readonly tokenHash: Buffer | null;
}

export interface CredentialKey {
  readonly organizer: string;
  readonly kind: CredentialKind;
  readonly id: string;
}

interface CredentialRow {
  readonly organizer: string;
  readonly kind: CredentialKind;
  readonly id: string;
  readonly token_hash: Buffer;
  readonly permissions: string[];
  readonly all_events: boolean;
  readonly events: string[];
  readonly active: boolean;
  readonly device: Device | null;
}

/** Finds the credential that a token belongs to. */
export async function findByHash(
  db: Queryable,
  kind: CredentialKind,
  tokenHash: Buffer,
): Promise<Credential | undefined> {
  const row = await db.maybeOne<CredentialRow>(sql`
    select organizer, kind, id, token_hash, permissions, all_events, events, active, device
      from credential
     where token_hash = ${tokenHash}
       and kind = ${kind}`);
  if (row === undefined) return undefined;
  const { token_hash: found, all_events: allEvents, ...rest } = row;
  return { ...rest, tokenHash: found, allEvents };
}

/**
 * Takes over the states that are newer than what is stored. Each credential, and each token, may occur once.
 *
 * A token belongs to the credential that had it last. Whoever had it before has lost it, even where the fact that
 * tells so is on its way, or was lost.
 */
export async function upsertNewer(tx: Tx, states: readonly CredentialState[]): Promise<void> {
  const rows = states.map((state) => ({ ...state, tokenHash: state.tokenHash?.toString("hex") ?? null }));
  await tx.run(sql`
    update credential
       set token_hash = null
      from unnest(${rows.map((row) => row.organizer)}::text[],
                  ${rows.map((row) => row.kind)}::text[],
                  ${rows.map((row) => row.id)}::text[],
                  ${rows.map((row) => row.tokenHash)}::text[],
                  ${rows.map((row) => row.revision)}::bigint[]) as state (organizer, kind, id, token_hash, revision)
     where credential.token_hash = decode(state.token_hash, 'hex')
       and credential.revision < state.revision
       and (credential.organizer, credential.kind, credential.id) <> (state.organizer, state.kind, state.id)`);
  await tx.run(sql`
    insert into credential (organizer, kind, id, revision, token_hash, name, permissions, all_events, events, active, device)
    select state.organizer, state.kind, state.id, state.revision,
           case when later.id is null then decode(state."tokenHash", 'hex') end, state.name,
           array(select jsonb_array_elements_text(state.permissions)), state."allEvents",
           array(select jsonb_array_elements_text(state.events)), state.active, nullif(state.device, 'null'::jsonb)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as state (organizer text, kind text, id text, revision bigint, "tokenHash" text, name text, permissions jsonb,
                  "allEvents" boolean, events jsonb, active boolean, device jsonb)
      left join credential as later
        on later.token_hash = decode(state."tokenHash", 'hex') and later.revision > state.revision
        on conflict (organizer, kind, id) do update
       set revision = excluded.revision,
           token_hash = excluded.token_hash,
           name = excluded.name,
           permissions = excluded.permissions,
           all_events = excluded.all_events,
           events = excluded.events,
           active = excluded.active,
           device = excluded.device
     where credential.revision < excluded.revision`);
}

/** Tells whether our copy of a credential is at least as new as a revision. */
export async function isAsNewAs(
  db: Queryable,
  { organizer, kind, id, revision }: CredentialKey & { readonly revision: number },
): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select
                     from credential
                    where credential.organizer = ${organizer}
                      and credential.kind = ${kind}
                      and credential.id = ${id}
                      and credential.revision >= ${revision}) as found`);
  return found;
}

/** Removes credentials that are gone. */
export async function remove(tx: Tx, keys: readonly CredentialKey[]): Promise<void> {
  await tx.run(sql`
    delete from credential
     using unnest(${keys.map((key) => key.organizer)}::text[],
                  ${keys.map((key) => key.kind)}::text[],
                  ${keys.map((key) => key.id)}::text[]) as gone (organizer, kind, id)
     where credential.organizer = gone.organizer
       and credential.kind = gone.kind
       and credential.id = gone.id`);
}

/** Removes credentials whose state is older than a revision; returns how many those were. */
export async function removeOlder(tx: Tx, revision: number): Promise<number> {
  return tx.run(sql`delete from credential where credential.revision < ${revision}`);
}

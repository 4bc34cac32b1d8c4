import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Credential, CredentialKind, Device } from "../access/caller.ts";

/** A credential as a fact tells of it. */
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

/** Takes over the states that are newer than what is stored. Each credential may occur once. */
export async function upsertNewer(tx: Tx, states: readonly CredentialState[]): Promise<void> {
  const rows = states.map((state) => ({ ...state, tokenHash: state.tokenHash?.toString("hex") ?? null }));
  await tx.run(sql`
    insert into credential (organizer, kind, id, revision, token_hash, name, permissions, all_events, events, active, device)
    select state.organizer, state.kind, state.id, state.revision, decode(state."tokenHash", 'hex'), state.name,
           array(select jsonb_array_elements_text(state.permissions)), state."allEvents",
           array(select jsonb_array_elements_text(state.events)), state.active, nullif(state.device, 'null'::jsonb)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as state (organizer text, kind text, id text, revision bigint, "tokenHash" text, name text, permissions jsonb,
                  "allEvents" boolean, events jsonb, active boolean, device jsonb)
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

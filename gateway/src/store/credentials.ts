import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, bytea, type Column, copyTable, json, text, texts } from "@tessera/kit/pg/table";

export type CredentialKind = "api_key" | "device";

/** What requests come from: a credential, or a person who has signed in. */
export type CallerKind = CredentialKind | "person";

export interface Device {
  readonly deviceId: number;
  readonly gate: number | null;
  readonly securityProfile: string;
  readonly softwareBrand: string;
}

const key = { organizer: text, kind: text as Column<CredentialKind>, id: text };

/** Our copy of API keys and devices. Without a token hash nothing authenticates as the credential. */
export const credentials = copyTable("credential", {
  key,
  columns: {
    tokenHash: bytea.orNull,
    name: text,
    permissions: texts,
    allEvents: boolean,
    events: texts,
    active: boolean,
    device: json<Device>().orNull,
  },
});

type CredentialState = Parameters<typeof credentials.upsertNewer>[1][number];

/** An API key or a device with its token. Inactive: the key was switched off, or the device revoked. */
export type Credential = Omit<CredentialState, "tokenHash" | "revision"> & { readonly tokenHash: Buffer };

export type CredentialKey = Pick<Credential, "organizer" | "kind" | "id">;

type CredentialRow = Omit<Credential, "tokenHash" | "allEvents"> & {
  readonly token_hash: Buffer;
  readonly all_events: boolean;
};

export async function findByHash(
  db: Queryable,
  kind: CredentialKind,
  tokenHash: Buffer,
): Promise<Credential | undefined> {
  const row = await db.maybeOne<CredentialRow>(sql`
    select organizer, kind, id, token_hash, name, permissions, all_events, events, active, device
      from credential
     where token_hash = ${tokenHash}
       and kind = ${kind}`);
  if (row === undefined) return undefined;
  const { token_hash: found, all_events: allEvents, ...rest } = row;
  return { ...rest, tokenHash: found, allEvents };
}

/**
 * Stores the states that are newer than the stored ones; keys must be distinct.
 *
 * A token belongs to its latest credential. All others lose it, even if the fact about them is late or lost.
 */
export async function storeCredentials(tx: Tx, states: readonly CredentialState[]): Promise<void> {
  const sent = sql`
    unnest(${states.map((state) => state.organizer)}::text[],
           ${states.map((state) => state.kind)}::text[],
           ${states.map((state) => state.id)}::text[],
           ${toByteaArray(states.map((state) => state.tokenHash ?? null))}::bytea[],
           ${states.map((state) => state.revision)}::bigint[]) as state (organizer, kind, id, token_hash, revision)`;
  await tx.run(sql`
    update credential
       set token_hash = null
      from ${sent}
     where credential.token_hash = state.token_hash
       and credential.revision < state.revision
       and (credential.organizer, credential.kind, credential.id) <> (state.organizer, state.kind, state.id)`);
  const passedOn = await tx.many<{ token_hash: Buffer; revision: number }>(sql`
    select credential.token_hash, credential.revision
      from credential
      join ${sent} on credential.token_hash = state.token_hash and credential.revision > state.revision`);
  const newest = new Map<string, number>();
  const owners = [...states, ...passedOn.map((row) => ({ tokenHash: row.token_hash, revision: row.revision }))];
  for (const { tokenHash, revision } of owners) {
    newest.set(hexOf(tokenHash), Math.max(revision, newest.get(hexOf(tokenHash)) ?? revision));
  }
  const ownsToken = (state: CredentialState) => newest.get(hexOf(state.tokenHash)) === state.revision;
  await credentials.upsertNewer(
    tx,
    states.map((state) => (ownsToken(state) ? state : { ...state, tokenHash: null })),
  );
}

function hexOf(tokenHash: Uint8Array | null | undefined): string {
  return tokenHash == null ? "" : Buffer.from(tokenHash).toString("hex");
}

/** Whether our copy of a credential is at least as new as a revision. */
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

/** Finds the names of devices of an organizer, also of revoked ones. */
export async function findDeviceNames(
  db: Queryable,
  { organizer, ids }: { readonly organizer: string; readonly ids: readonly number[] },
): Promise<ReadonlyMap<number, string>> {
  const rows = await db.many<{ readonly id: string; readonly name: string }>(sql`
    select credential.id, credential.name
      from credential
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and credential.id = any(${ids.map(String)}::text[])`);
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
}

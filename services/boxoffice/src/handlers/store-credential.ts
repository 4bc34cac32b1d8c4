import type { Queryable, Tx } from "@tessera/kit/pg/database";
import type { Credential } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { fault } from "../faults.ts";
import type { CredentialKind, CredentialRecord, StoredFields } from "../records/credential.ts";
import type { Run } from "../records/kind.ts";
import type { StoredCredential } from "../store/credentials.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import * as organizers from "../store/organizers.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";

/** Keeps batches of the organizer's records out until commit. Throws where there is no such organizer. */
export async function lockOrganizer(tx: Tx, organizer: string): Promise<void> {
  await takeLocks(tx, locksOf([{ organizer, event: "" }]));
  await requireOrganizer(tx, organizer);
}

/** Throws where there is no such organizer. */
export async function requireOrganizer(db: Queryable, organizer: string): Promise<void> {
  if (!(await organizers.exists(db, organizer))) throw fault("organizer_not_found", "There is no such organizer.");
}

/** Makes a run of one credential, which is stored as its record would be: in the same shape, with the same fact. */
export async function runOf(
  tx: Tx,
  kind: CredentialKind,
  { organizer, value }: { organizer: string; value: CredentialRecord },
): Promise<Run<CredentialRecord>> {
  const scope = { organizer, event: "" };
  const mentioned = nothingMentioned();
  kind.mention?.(value, mentioned);
  return { scope, values: [value], known: await findMentioned(tx, scope, mentioned) };
}

/** Writes a credential as it is stored. */
export function toMessage(kind: CredentialKind, { id, revision, data }: StoredCredential<StoredFields>): Credential {
  return { id, revision, fields: kind.toMessage(data) };
}

/** What the log may hold of a credential: enough to find it, and nothing that a token could be found by. */
export function toLog(organizer: string, kind: CredentialKind, id: string): Readonly<Record<string, string>> {
  return { organizer, kind: kind.name, id: kind.idPrefix === undefined ? id : id.slice(0, 8) };
}

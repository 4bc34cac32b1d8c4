import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { fault } from "../faults.ts";
import type { CredentialKind, CredentialRecord } from "../records/credential.ts";
import type { Run } from "../records/kind.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import * as organizers from "../store/organizers.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";

/** Excludes batches of the organizer's records until commit. Throws if the organizer does not exist. */
export async function lockOrganizer(tx: Tx, organizer: string): Promise<void> {
  await takeLocks(tx, locksOf([{ organizer, event: "" }]));
  await requireOrganizer(tx, organizer);
}

/** Throws if the organizer does not exist. */
export async function requireOrganizer(db: Queryable, organizer: string): Promise<void> {
  if (!(await organizers.exists(db, organizer))) throw fault("organizer_not_found", "There is no such organizer.");
}

/** Makes a run of one credential: it is stored in the same shape and with the same fact as its record. */
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

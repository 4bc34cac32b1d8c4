import type { Log } from "@tessera/kit/log";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type {
  RevokeCredentialRequest,
  RevokeCredentialResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { fault } from "../faults.ts";
import type { CredentialKind, StoredFields } from "../records/credential.ts";
import { credentialKindOf } from "../records/credential-kinds.ts";
import * as credentials from "../store/credentials.ts";
import { lockOrganizer, runOf, toLog, toMessage } from "./store-credential.ts";

/**
 * Revokes a credential. It stays, so that its requests are refused with the reason: a scanner that is revoked deletes its
 * data of the event. What the credential refers to may be deleted by now, so nothing is checked.
 */
export async function revokeCredential(
  { organizer, kind: name, id }: RevokeCredentialRequest,
  { db, log }: { db: Db; log: Log },
): Promise<RevokeCredentialResponse> {
  const kind = credentialKindOf(name);
  const { credential, changed } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    const found = await findOne(tx, kind, { organizer, id });
    if (!kind.isActive(found.data)) return { credential: found, changed: false };
    const data = { ...found.data, ...kind.revoked };
    const value = kind.recordOf(found.tokenHash, { data, document: JSON.stringify(data) });
    await kind.store(tx, await runOf(tx, kind, { organizer, value }));
    return { credential: await findOne(tx, kind, { organizer, id: found.id }), changed: true };
  });
  if (changed) log.info(`${kind.aNoun} was revoked`, toLog(organizer, kind, credential.id));
  return { credential: toMessage(kind, credential) };
}

async function findOne(
  tx: Tx,
  { name: kind, noun, absent, idPrefix }: CredentialKind,
  { organizer, id }: { organizer: string; id: string },
): Promise<credentials.StoredCredential<StoredFields>> {
  const prefix = id.toLowerCase();
  const found =
    idPrefix === undefined
      ? await credentials.find<StoredFields>(tx, { organizer, kind, id })
      : idPrefix.test(prefix)
        ? await credentials.findByPrefix<StoredFields>(tx, { organizer, kind, prefix })
        : [];
  const [first, ...others] = found;
  if (first === undefined) throw fault(absent, `The organizer has no such ${noun}.`);
  if (others.length > 0)
    throw fault("ambiguous_id", `The ids of several ${noun}s begin like this; send more of the one meant.`);
  return first;
}

import type { Db, Tx } from "@tessera/kit/pg/database";
import type {
  RevokeCredentialRequest,
  RevokeCredentialResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { fault } from "../faults.ts";
import type { CredentialKind } from "../records/credential.ts";
import { credentialKindOf } from "../records/credential-kinds.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import * as credentials from "../store/credentials.ts";
import { toCredential } from "../wire/credential-messages.ts";
import { lockOrganizer, runOf } from "./store-credential.ts";

/**
 * Revokes a credential. Its row stays, so that its requests are refused with the reason: a revoked scanner deletes its data
 * of the event. References are not checked: what they name may be deleted by now.
 */
export async function revokeCredential(
  { organizer, kind: name, id }: RevokeCredentialRequest,
  { db, events }: { db: Db; events: BoxofficeEvents },
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
  if (changed) events.credentialRevoked({ organizer, kind: kind.name, id: credential.id });
  return { credential: toCredential(credential, kind.toMessage(credential.data)) };
}

async function findOne(
  tx: Tx,
  { name: kind, noun, absent, idPrefix }: CredentialKind,
  { organizer, id }: { organizer: string; id: string },
): Promise<credentials.StoredCredential<credentials.StoredFields>> {
  const prefix = id.toLowerCase();
  const found =
    idPrefix === undefined
      ? await credentials.find<credentials.StoredFields>(tx, { organizer, kind, id })
      : idPrefix.test(prefix)
        ? await credentials.findByPrefix<credentials.StoredFields>(tx, { organizer, kind, prefix })
        : [];
  const [first, ...others] = found;
  if (first === undefined) throw fault(absent, `The organizer has no such ${noun}.`);
  if (others.length > 0)
    throw fault("ambiguous_id", `The ids of several ${noun}s begin like this; send more characters.`);
  return first;
}

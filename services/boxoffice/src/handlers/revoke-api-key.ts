import type { Log } from "@tessera/kit/log";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { RevokeApiKeyRequest, RevokeApiKeyResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { fault } from "../faults.ts";
import { apiKey, apiKeyOf } from "../records/api-key.ts";
import type { StoredApiKey } from "../records/credential-fact.ts";
import * as credentials from "../store/credentials.ts";
import { toApiKeyState } from "./credential-messages.ts";
import { lockOrganizer, requireOrganizer, storeAgain } from "./store-credential.ts";

/** Switches an API key off. It stays, so that its requests hear why they are refused. */
export async function revokeApiKey(
  { organizer, id }: RevokeApiKeyRequest,
  { db, log }: { db: Db; log: Log },
): Promise<RevokeApiKeyResponse> {
  const { key, changed } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    await requireOrganizer(tx, organizer);
    const found = await findOne(tx, organizer, id);
    const { tokenHash } = found;
    if (tokenHash === null || !found.data.active) return { key: found, changed: false };
    const data = { ...found.data, active: false };
    const value = apiKeyOf(tokenHash, { data, document: JSON.stringify(data) });
    await storeAgain(tx, apiKey, { organizer, value });
    return { key: await findOne(tx, organizer, found.id), changed: true };
  });
  if (changed) log.info("an API key was revoked", { organizer, key: key.id.slice(0, 8) });
  return { key: toApiKeyState(key) };
}

/** Fewer characters are a slip of the hand, even where they happen to lead to one key. */
const prefix = /^[0-9a-f]{8,64}$/;

async function findOne(tx: Tx, organizer: string, id: string): Promise<credentials.StoredCredential<StoredApiKey>> {
  const sought = id.toLowerCase();
  const [found, ...others] = prefix.test(sought)
    ? await credentials.findByPrefix<StoredApiKey>(tx, { organizer, kind: "api_key", prefix: sought })
    : [];
  if (found === undefined) throw fault("api_key_not_found", "The organizer has no such API key.");
  if (others.length > 0)
    throw fault("ambiguous_id", "The ids of several API keys begin like this; send more of the one meant.");
  return found;
}

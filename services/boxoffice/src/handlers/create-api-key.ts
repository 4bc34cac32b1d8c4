import type { Log } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import type { CreateApiKeyRequest, CreateApiKeyResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { apiKey, apiKeyOf, readApiKeyFields } from "../records/api-key.ts";
import type { StoredApiKey } from "../records/credential-fact.ts";
import * as credentials from "../store/credentials.ts";
import { readTokenHash, toApiKeyData, toApiKeyState } from "./credential-messages.ts";
import { createOnce, lockOrganizer, readFields, requireOrganizer, storeNew } from "./store-credential.ts";

/** Creates an API key. A token that one has already is a request that comes again: it changes nothing. */
export async function createApiKey(
  { organizer, tokenHash: bytes, fields }: CreateApiKeyRequest,
  { db, log }: { db: Db; log: Log },
): Promise<CreateApiKeyResponse> {
  const tokenHash = readTokenHash(bytes);
  const { found, isNew } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    await requireOrganizer(tx, organizer);
    const find = () => credentials.findByToken<StoredApiKey>(tx, { organizer, kind: "api_key", tokenHash });
    return createOnce(find, async () => {
      const { reading, errors } = readFields(readApiKeyFields, toApiKeyData(fields));
      await storeNew(tx, apiKey, { organizer, value: apiKeyOf(tokenHash, reading), errors });
    });
  });
  if (isNew) log.info("an API key was created", { organizer, key: found.id.slice(0, 8) });
  return { key: toApiKeyState(found) };
}

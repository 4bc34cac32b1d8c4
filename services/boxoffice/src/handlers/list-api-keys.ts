import type { Db } from "@tessera/kit/pg/database";
import type { ListApiKeysRequest, ListApiKeysResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { StoredApiKey } from "../records/credential-fact.ts";
import { toApiKeyState } from "./credential-messages.ts";
import { pageCredentials } from "./page-credentials.ts";

/** Pages through the API keys of an organizer, revoked ones included. */
export async function listApiKeys(request: ListApiKeysRequest, { db }: { db: Db }): Promise<ListApiKeysResponse> {
  const { count, page, found } = await pageCredentials<StoredApiKey>(db, "api_key", request);
  return { keys: found.map(toApiKeyState), count, page };
}

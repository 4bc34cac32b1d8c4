import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type {
  ListCredentialsRequest,
  ListCredentialsResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { credentialKindOf } from "../records/credential-kinds.ts";
import * as credentials from "../store/credentials.ts";
import { toCredential } from "../wire/credential-messages.ts";
import { requireOrganizer } from "./store-credential.ts";

/** Pages through the credentials of an organizer of one kind, revoked ones included. */
export async function listCredentials(
  { organizer, kind: name, ...asked }: ListCredentialsRequest,
  { db }: { db: Db },
): Promise<ListCredentialsResponse> {
  const kind = credentialKindOf(name);
  await requireOrganizer(db, organizer);
  const of = { organizer, kind: kind.name };
  const count = await credentials.count(db, of);
  const { page, limit, offset } = cutPage(asked, count);
  const found = await credentials.page<credentials.StoredFields>(db, { ...of, limit, offset });
  return { credentials: found.map((each) => toCredential(each, kind.toMessage(each.data))), count, page };
}

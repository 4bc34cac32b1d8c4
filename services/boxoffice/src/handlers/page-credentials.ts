import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import * as credentials from "../store/credentials.ts";
import { requireOrganizer } from "./store-credential.ts";

/** No page has more. */
const longestPage = 50;

interface Asked {
  readonly organizer: string;
  /** 0 is the last one; the first one is there even when nothing is. */
  readonly page: number;
  readonly pageSize: number;
}

/** Reads one page of an organizer's credentials of one kind. */
export async function pageCredentials<T>(
  db: Db,
  kind: credentials.CredentialKind,
  { organizer, page: asked, pageSize }: Asked,
): Promise<{ count: number; page: number; found: credentials.StoredCredential<T>[] }> {
  await requireOrganizer(db, organizer);
  const count = await credentials.count(db, { organizer, kind });
  const limit = pageSize >= 1 && pageSize <= longestPage ? pageSize : longestPage;
  const last = Math.max(1, Math.ceil(count / limit));
  const page = asked === 0 ? last : asked;
  if (page < 1 || page > last) throw new Fault("not_found", "invalid_page", "Invalid page.");
  return { count, page, found: await credentials.page<T>(db, { organizer, kind, limit, offset: (page - 1) * limit }) };
}

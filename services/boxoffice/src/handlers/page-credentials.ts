import { cutPage } from "@tessera/kit/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import * as credentials from "../store/credentials.ts";
import { requireOrganizer } from "./store-credential.ts";

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
  { organizer, ...asked }: Asked,
): Promise<{ count: number; page: number; found: credentials.StoredCredential<T>[] }> {
  await requireOrganizer(db, organizer);
  const count = await credentials.count(db, { organizer, kind });
  const { page, limit, offset } = cutPage(asked, count);
  return { count, page, found: await credentials.page<T>(db, { organizer, kind, limit, offset }) };
}

import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import type { SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Tenant } from "../access/caller.ts";
import { findUploads, type UploadOwner } from "../store/uploads.ts";
import { waitForDatabase } from "../store/wait-for-database.ts";

/** The owner of a caller's uploads. */
export function ownerOf({ organizer, kind: credentialKind, id: credentialId }: Tenant): UploadOwner {
  return { organizer, credentialKind, credentialId };
}

export function uploadFinder({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  return async (ids: readonly string[], caller: Tenant): Promise<SentFile[]> => {
    const found = await waitForDatabase(findUploads(db, { ids, ...ownerOf(caller), now: clock.now() }));
    return found.map(({ id: upload, fileName: name, ...file }) => ({ upload, name, ...file }));
  };
}

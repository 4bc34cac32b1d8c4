import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import type { SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Tenant } from "../access/caller.ts";
import { nameUploads } from "../store/uploads.ts";
import { waitForDatabase } from "../store/wait-for-database.ts";

/** Boxoffice copies the file of an answer; it may be down for days. */
const keptMicros = 30 * 24 * 60 * 60 * 1_000_000;

/** Finds the uploads of a caller that an answer names, and keeps them until boxoffice has had time to copy them. */
export function uploadFinder({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  return async (ids: readonly string[], caller: Tenant): Promise<SentFile[]> => {
    const now = clock.now();
    const found = await waitForDatabase(
      nameUploads(db, {
        ids,
        organizer: caller.organizer,
        credentialKind: caller.kind,
        credentialId: caller.id,
        now,
        keepUntil: now + keptMicros,
      }),
    );
    return found.map(({ id: upload, fileName: name, ...file }) => ({ upload, name, ...file }));
  };
}

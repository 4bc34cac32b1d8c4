import { type FileStores, removeUnnamedJob } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import { deleteUploads, findExpired, findRecorded, idAt, keyOf, uploadsPrefix } from "../store/uploads.ts";

const minuteMs = 60_000;

/** The fact about a scan that named a file at the last moment takes at most this long, unless the bus is down. */
const graceMicros = 60 * minuteMs * 1000;

/** Few enough to hold the row locks briefly, and for a store to delete them quickly. */
const atOnce = 500;

/** Deletes expired uploads. Replicas may run it concurrently. */
export function removeExpiredUploads({ db, files, clock }: FileStores): Job {
  return {
    name: "remove-expired-uploads",
    everyMs: 5 * minuteMs,
    async run(signal) {
      while (!signal.aborted) {
        const ids = await findExpired(db, { now: clock.now(), graceMicros, most: atOnce });
        if (ids.length === 0) return;
        await files.remove(ids.map(keyOf));
        // Last, because a file without a row is harder to find than a row without a file.
        await deleteUploads(db, ids);
      }
    },
  };
}

/** Removes files that were stored but never recorded. Replicas may run it concurrently. */
export function removeUnrecordedUploads({ db, ...stores }: FileStores): Job {
  return removeUnnamedJob(stores, {
    name: "remove-unrecorded-uploads",
    everyMinutes: 15,
    prefix: uploadsPrefix,
    isOurs: (key) => idAt(key) !== undefined,
    findNamed: async (keys) => {
      const ids = keys.map(idAt).filter((id) => id !== undefined);
      return new Set([...(await findRecorded(db, ids))].map(keyOf));
    },
  });
}

import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { deleteOldSessions } from "../store/session-rows.ts";

const everyMs = 60 * 60 * 1000;

/** Deletes links and sessions that have been over for days. Replicas may run it concurrently. */
export function deleteEndedSessions({ db }: { readonly db: Db }): Job {
  return {
    name: "delete-ended-sessions",
    everyMs,
    async run(signal) {
      while ((await deleteOldSessions(db)) && !signal.aborted);
    },
  };
}

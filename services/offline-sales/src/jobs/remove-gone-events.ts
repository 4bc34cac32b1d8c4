import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { findGoneEvents } from "@tessera/kit/pg/gone-events";
import { deleteGoneEvent } from "../store/gone-events.ts";

const hourMs = 3_600_000;

/**
 * Deletes batches of events that a rebuild has left out a day ago, and that are not back: those of others went with them. Any
 * number of replicas may do it at a time, and after a crash the next one goes on.
 */
export function removeGoneEvents({ db }: { readonly db: Db }): Job {
  return {
    name: "remove-gone-events",
    everyMs: hourMs,
    async run(signal) {
      for (const key of await findGoneEvents(db)) {
        if (signal.aborted) return;
        await db.transaction((tx) => deleteGoneEvent(tx, key));
      }
    },
  };
}

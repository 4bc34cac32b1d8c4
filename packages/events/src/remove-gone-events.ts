import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import type { EventKey } from "./entity-key.ts";
import { findGoneEvents } from "./gone-events.ts";

const hourMs = 3_600_000;

/**
 * Makes the job that removes what is left of events that were deleted a day ago and are not back. Replicas may run it
 * concurrently, and after a crash the next run goes on.
 */
export function removingGoneEvents<Deps extends { readonly db: Db }>(
  remove: (key: EventKey, deps: Deps, signal: AbortSignal) => Promise<void>,
): (deps: Deps) => Job {
  return (deps) => ({
    name: "remove-gone-events",
    everyMs: hourMs,
    async run(signal) {
      for (const key of await findGoneEvents(deps.db)) {
        if (signal.aborted) return;
        await remove(key, deps, signal);
      }
    },
  });
}

import type { Files } from "@tessera/kit/files/files";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { findGoneEvents } from "@tessera/kit/pg/gone-events";
import { rendersOf } from "../render-work.ts";
import { hasEvent } from "../store/events.ts";
import { deleteGoneEvent } from "../store/gone-events.ts";
import type { EventKey } from "../store/keys.ts";

const hourMs = 3_600_000;

/**
 * Deletes layouts of events that were deleted a day ago, and are not back, and the rendered files of those that a rebuild has
 * left out; backgrounds follow. Any number of replicas may do it at a time, and after a crash the next one goes on.
 */
export function removeGoneEvents({ db, files }: { readonly db: Db; readonly files: Files }): Job {
  return {
    name: "remove-gone-events",
    everyMs: hourMs,
    async run(signal) {
      for (const key of await findGoneEvents(db)) {
        if (signal.aborted) return;
        // Before the note of the event goes: a process that is killed here leaves it to the next one.
        await removeFiles({ db, files }, key);
        await db.transaction((tx) => deleteGoneEvent(tx, key));
      }
    },
  };
}

const mostAtOnce = 500;

/** Removes rendered files, unless the event is back: what was listed before that was asked is not of its new tickets. */
async function removeFiles({ db, files }: { readonly db: Db; readonly files: Files }, key: EventKey): Promise<void> {
  let keys: string[] = [];
  const removeListed = async () => {
    if (!(await hasEvent(db, key))) await files.remove(keys);
    keys = [];
  };
  for await (const file of files.list(rendersOf(key))) {
    keys.push(file.key);
    if (keys.length === mostAtOnce) await removeListed();
  }
  await removeListed();
}

import { removingGoneEvents } from "@tessera/events/remove-gone-events";
import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import { rendersOf } from "../printing/render-work.ts";
import { hasEvent } from "../store/events.ts";
import { deleteGoneEvent } from "../store/gone-events.ts";
import type { EventKey } from "../store/keys.ts";

interface Stores {
  readonly db: Db;
  readonly files: Files;
}

/** Deletes layouts, and rendered files of events that a rebuild did not publish; another job deletes backgrounds. */
export const removeGoneEvents = removingGoneEvents(async (key, { db, files }: Stores) => {
  // Files first, then the note of the event: after a kill the next run starts over.
  await removeFiles({ db, files }, key);
  await db.transaction((tx) => deleteGoneEvent(tx, key));
});

const mostAtOnce = 500;

/** Removes rendered files unless the event is back. Files are listed before that check: none is of its new tickets. */
async function removeFiles({ db, files }: Stores, key: EventKey): Promise<void> {
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

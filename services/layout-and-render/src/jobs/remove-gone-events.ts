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

/** Deletes layouts, and the rendered files of events that a rebuild has left out; backgrounds follow. */
export const removeGoneEvents = removingGoneEvents(async (key, { db, files }: Stores) => {
  // Before the note of the event goes: a process that is killed here leaves it to the next one.
  await removeFiles({ db, files }, key);
  await db.transaction((tx) => deleteGoneEvent(tx, key));
});

const mostAtOnce = 500;

/** Removes rendered files, unless the event is back: what was listed before that was asked is not of its new tickets. */
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

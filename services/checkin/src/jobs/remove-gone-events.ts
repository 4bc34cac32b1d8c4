import { removingGoneEvents } from "@tessera/events/remove-gone-events";
import { deleteRowsOf, forgetEmptyEvent, mostRows, ownTables } from "../store/gone-events.ts";

/** Deletes lists and scans. */
export const removeGoneEvents = removingGoneEvents(async (key, { db }, signal) => {
  for (const table of ownTables) {
    while (!signal.aborted && (await deleteRowsOf(db, key, table)) === mostRows);
  }
  if (!signal.aborted) await forgetEmptyEvent(db, key);
});

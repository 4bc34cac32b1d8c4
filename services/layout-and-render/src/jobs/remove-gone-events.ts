import { removingGoneEvents } from "@tessera/events/remove-gone-events";
import { deleteGoneEvent } from "../store/gone-events.ts";

/**
 * Deletes layouts; other jobs delete their backgrounds, and rendered files: within a day no work names those of an event that a
 * rebuild has left out.
 */
export const removeGoneEvents = removingGoneEvents((key, { db }) => db.transaction((tx) => deleteGoneEvent(tx, key)));

import { removingGoneEvents } from "@tessera/events/remove-gone-events";
import { deleteGoneEvent } from "../store/gone-events.ts";

/** Deletes batches of events that a rebuild has left out: those of others went with their event. */
export const removeGoneEvents = removingGoneEvents((key, { db }) => db.transaction((tx) => deleteGoneEvent(tx, key)));

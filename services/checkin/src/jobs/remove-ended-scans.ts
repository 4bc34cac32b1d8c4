import { workOn } from "@tessera/kit/jobs/work-on";
import { removeEndedScans } from "../leftovers/ended-scans.ts";
import { deleteUnknownScans, mostRows } from "../store/gone-events.ts";

/** Deletes scans in batches, each in its own transaction. After a crash another process starts over. */
export const workOnEndedScans = workOn(removeEndedScans, async ({ payload, signal, step }) => {
  while ((await step((tx) => deleteUnknownScans(tx, payload))) === mostRows) signal.throwIfAborted();
  return async () => {};
});

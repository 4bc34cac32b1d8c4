import { consume } from "@tessera/kit/bus/consume";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { noteEventsGone } from "../store/cases.ts";
import { deleteExportsUntil } from "../store/exports.ts";

/**
 * Notes which events were deleted: another one that gets the name of one is not erased again with it. Exports go at once; a job
 * removes their files.
 */
export const eventChanged = consume(topics.eventChanged, async (tx, facts) => {
  const gone = facts.filter(({ value }) => value === null).map(({ key, at }) => ({ ...parseEntityKey(key), at }));
  await noteEventsGone(tx, gone);
  await deleteExportsUntil(tx, gone);
});

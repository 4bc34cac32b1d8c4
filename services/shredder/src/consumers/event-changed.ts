import { consume } from "@tessera/kit/bus/consume";
import { noteFilesToRemove } from "@tessera/kit/jobs/files-to-remove";
import { endWork } from "@tessera/kit/jobs/work";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { exporting, worksOf } from "../cases/work.ts";
import { takeBackOfGone } from "../store/announcements.ts";
import { noteEventsGone } from "../store/cases.ts";
import { deleteExportsUntil } from "../store/exports.ts";

/**
 * Notes which events were deleted: another one that gets the name of one is not erased again with it, nor without an announcement of
 * its own. Exports go at once, also those that are being made; a job removes their files.
 */
export const eventChanged = consume(topics.eventChanged, async (tx, facts) => {
  const gone = facts.filter(({ value }) => value === null).map(({ key, at }) => ({ ...parseEntityKey(key), at }));
  for (const { at, ...event } of gone) await endWork(tx, exporting, { prefix: worksOf(event), before: at });
  await noteEventsGone(tx, gone);
  await takeBackOfGone(tx, gone);
  await noteFilesToRemove(tx, await deleteExportsUntil(tx, gone));
});

import { type FileStores, removeUnnamed } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import { exportsPrefix } from "../cases/work.ts";
import { deleteOldExports, findNamedFiles } from "../store/exports.ts";

const minuteMs = 60_000;

/** How long an export can be downloaded (D5.3), and how many are removed at a time. */
const keptHours = 2;
const mostAtOnce = 100;

/**
 * Removes exports whose time is over, and files of tries that were lost. Any number of replicas may run this at the same
 * time.
 */
export function removeExports({ db, files, clock }: FileStores): Job {
  return {
    name: "remove-exports",
    everyMs: minuteMs,
    async run(signal) {
      for (let found = mostAtOnce; found === mostAtOnce && !signal.aborted; ) {
        const removed = await deleteOldExports(db, { hours: keptHours, most: mostAtOnce });
        await files.remove(removed.filter((key) => key !== null));
        found = removed.length;
      }
      await removeUnnamed(files, {
        prefix: exportsPrefix,
        isOurs: (key) => key.endsWith(".zip"),
        findNamed: (keys) => findNamedFiles(db, keys),
        clock,
        signal,
      });
    },
  };
}

import { type FileStores, removeUnnamedJob } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import { backgroundsPrefix, keyOf, nameAt } from "../backgrounds/backgrounds.ts";
import { findBackgrounds } from "../store/stored-layouts.ts";

/**
 * Deletes files that are the background of no layout: replaced or removed ones, and ones that no layout was stored
 * with. A name is drawn once, so a file without a layout after an hour stays without. Replicas may run it concurrently.
 */
export function removeBackgroundFiles({ db, ...stores }: FileStores): Job {
  return removeUnnamedJob(stores, {
    name: "remove-background-files",
    everyMinutes: 15,
    prefix: backgroundsPrefix,
    isOurs: (key) => nameAt(key) !== undefined,
    async findNamed(keys) {
      const names = keys.map(nameAt).filter((name) => name !== undefined);
      return new Set((await findBackgrounds(db, names)).map(keyOf));
    },
  });
}

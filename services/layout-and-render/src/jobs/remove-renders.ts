import { type FileStores, removeUnnamedJob } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import { findResults } from "@tessera/kit/jobs/work";
import { rendersPrefix, renderWorks, workAt } from "../printing/render-work.ts";

/**
 * Deletes rendered files that are the result of no job: expired ones, and ones of tries that died after storing the
 * file. Replicas may run it concurrently.
 */
export function removeRenders({ db, ...stores }: FileStores): Job {
  return removeUnnamedJob(stores, {
    name: "remove-renders",
    everyMinutes: 10,
    prefix: rendersPrefix,
    isOurs: (key) => workAt(key) !== undefined,
    async findNamed(keys) {
      const ids = [...new Set(keys.map(workAt).filter((id) => id !== undefined))];
      const results = await Promise.all(renderWorks.map((work) => findResults(db, work, ids)));
      return new Set(results.flatMap((found) => Array.from(found.values(), ({ fileKey }) => fileKey)));
    },
  });
}

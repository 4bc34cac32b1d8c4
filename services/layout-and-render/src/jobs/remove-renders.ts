import type { Clock } from "@tessera/kit/clock";
import type { Files } from "@tessera/kit/files/files";
import { removeUnnamed } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import { findResults } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import { rendersPrefix, renderWorks, workAt } from "../printing/render-work.ts";

export interface RenderStores {
  readonly db: Db;
  readonly files: Files;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/**
 * Deletes rendered files that are the result of no job: expired ones, and ones of tries that died after storing the
 * file. Replicas may run it concurrently.
 */
export function removeRenders({ db, files, clock }: RenderStores): Job {
  return {
    name: "remove-renders",
    everyMs: 10 * minuteMs,
    run: (signal) =>
      removeUnnamed(files, {
        prefix: rendersPrefix,
        isOurs: (key) => workAt(key) !== undefined,
        async findNamed(keys) {
          const ids = [...new Set(keys.map(workAt).filter((id) => id !== undefined))];
          const results = await Promise.all(renderWorks.map((work) => findResults(db, work, ids)));
          return new Set(results.flatMap((found) => Array.from(found.values(), ({ fileKey }) => fileKey)));
        },
        clock,
        signal,
      }),
  };
}

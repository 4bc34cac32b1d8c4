import type { Clock } from "@tessera/kit/clock";
import type { Files } from "@tessera/kit/files/files";
import { removeUnnamed } from "@tessera/kit/files/remove-unnamed";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { backgroundsPrefix, keyOf, nameAt } from "../backgrounds/backgrounds.ts";
import { findBackgrounds } from "../store/layouts.ts";

export interface BackgroundStores {
  readonly db: Db;
  readonly files: Files;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/**
 * Deletes files that are the background of no layout: replaced or removed ones, and ones that no layout was stored
 * with. A name is drawn once, so a file without a layout after an hour stays without. Replicas may run it concurrently.
 */
export function removeBackgroundFiles({ db, files, clock }: BackgroundStores): Job {
  return {
    name: "remove-background-files",
    everyMs: 15 * minuteMs,
    run: (signal) =>
      removeUnnamed(files, {
        prefix: backgroundsPrefix,
        isOurs: (key) => nameAt(key) !== undefined,
        async findNamed(keys) {
          const names = keys.map(nameAt).filter((name) => name !== undefined);
          return new Set((await findBackgrounds(db, names)).map(keyOf));
        },
        clock,
        signal,
      }),
  };
}

import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { deleteOldRenderings } from "../store/renderings.ts";

const hourMs = 3_600_000;

const mostAtOnce = 1000;

/** Forgets renderings whose files layout-and-render has removed. Any number of replicas may run this at the same time. */
export function forgetRenderings({ db }: { readonly db: Db }): Job {
  return {
    name: "forget-renderings",
    everyMs: hourMs,
    async run(signal) {
      while (!signal.aborted && (await deleteOldRenderings(db, { most: mostAtOnce })) === mostAtOnce);
    },
  };
}

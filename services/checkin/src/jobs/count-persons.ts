import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { countNoted } from "../capacity/count-noted.ts";

/** Records set limits too, and a process may end before it has counted. */
const everyMs = 2000;
const longestMs = 10_000;

/** Counts who is inside of the lists that have had a limit for a moment. */
export function countPersons({ db }: { readonly db: Db }): Job {
  return { name: "count-persons", everyMs, run: async () => void (await countNoted(db, { longestMs })) };
}

import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { findFullCallers } from "../store/kept-answers.ts";

/** Until the next run a caller may exceed its limit by what it can send. Counting is one index scan. */
const everyMs = 5 * 60 * 1000;

/** The callers whose answers are not kept any more. */
export interface FullCallers {
  /** The limit of kept answers for one caller. */
  readonly most: number;
  current: ReadonlySet<string>;
}

/** Finds the callers that have used more idempotency keys than allowed. Every process runs it for itself. */
export function findFull({ db, fullCallers }: { readonly db: Db; readonly fullCallers: FullCallers }): Job {
  return {
    name: "find-full-callers",
    everyMs,
    async run() {
      fullCallers.current = await findFullCallers(db, fullCallers);
    },
  };
}

import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { findFullCallers } from "../store/kept-answers.ts";

/** In this time a caller may exceed its limit by what it can send. Counting reads an index once. */
const everyMs = 5 * 60 * 1000;

/** The callers for whom nothing more is kept. */
export interface FullCallers {
  /** How many answers are kept for one caller. */
  readonly most: number;
  current: ReadonlySet<string>;
}

/** Finds the callers that have used more idempotency keys than allowed. Every process does it for itself. */
export function findFull({ db, fullCallers }: { readonly db: Db; readonly fullCallers: FullCallers }): Job {
  return {
    name: "find-full-callers",
    everyMs,
    async run() {
      fullCallers.current = await findFullCallers(db, fullCallers);
    },
  };
}

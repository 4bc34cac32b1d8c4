import type { Db } from "@tessera/kit/pg/database";

/** The end of the next transaction: rolled back, or committed without an answer. */
export type Crash = "abort" | "lost answer";

/** Stands for the end of a process. */
class Crashed extends Error {
  override readonly name = "Crashed";
}

/** A database whose next transaction ends as a test says. */
export function crashing(db: Db): Db & { crashNext(crash: Crash | undefined): void } {
  let next: Crash | undefined;
  return {
    ...db,
    crashNext: (crash) => {
      next = crash;
    },
    async transaction(work) {
      const crash = next;
      next = undefined;
      const result = await db.transaction(async (tx) => {
        const done = await work(tx);
        if (crash === "abort") throw new Crashed("the process ended before the commit");
        return done;
      });
      if (crash === "lost answer") throw new Crashed("the process ended after the commit");
      return result;
    },
  };
}

import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { deleteOldAnswers, eraseAnswersOfDeleted, findGoneEvents, forgetDeletions } from "../store/kept-answers.ts";

const everyMs = 10 * 60 * 1000;

/** Deletes expired kept answers, and erases answers about deleted events. Replicas may run it concurrently. */
export function deleteKeptAnswers({ db }: { readonly db: Db }): Job {
  return {
    name: "delete-kept-answers",
    everyMs,
    async run(signal) {
      for (const event of await findGoneEvents(db)) {
        while ((await eraseAnswersOfDeleted(db, event)).isMore && !signal.aborted);
      }
      while ((await deleteOldAnswers(db)) && !signal.aborted);
      await forgetDeletions(db);
    },
  };
}

import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { deleteOldAnswers } from "../store/kept-answers.ts";

const everyMs = 10 * 60 * 1000;

/** Deletes the answers to idempotency keys after a day. Any number of replicas may run it at the same time. */
export function deleteKeptAnswers({ db }: { readonly db: Db }): Job {
  return {
    name: "forget-kept-answers",
    everyMs,
    async run(signal) {
      while ((await deleteOldAnswers(db)) && !signal.aborted);
    },
  };
}

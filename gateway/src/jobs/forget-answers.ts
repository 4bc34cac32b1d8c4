import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { forgetAnswers } from "../store/kept-answers.ts";

const everyMs = 10 * 60 * 1000;

/** Forgets the answers of idempotency keys a day later. Any number of replicas may do it at a time. */
export function forgetKeptAnswers({ db }: { readonly db: Db }): Job {
  return {
    name: "forget-kept-answers",
    everyMs,
    async run(signal) {
      while ((await forgetAnswers(db)) && !signal.aborted);
    },
  };
}

import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { choice, integer, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import type { Reply } from "../../http/route.ts";

/** The polling interval of clients (A8.6). */
const again = { "Retry-After": "1" };

/** A job without a result. */
interface UnfinishedJob {
  readonly state: JobState;
  /** Why it failed, for people. */
  readonly message: string;
  readonly done?: number | undefined;
  readonly total?: number | undefined;
}

/** The progress of a job (L42.1). */
export function replyUnfinished({ state, done, total, message }: UnfinishedJob): Reply {
  if (state === JobState.FAILED) return { status: "gone", body: { status: "failed", message } };
  if (state === JobState.WAITING) return { status: "conflict", headers: again, body: { status: "waiting" } };
  const percentage = done === undefined || !total ? null : Math.floor((100 * done) / total);
  return { status: "conflict", headers: again, body: { status: "running", percentage } };
}

const pendingShown = record(
  "JobPending",
  {
    status: choice(["waiting", "running"]),
    percentage: integer({ nullable: true, description: "How much of it is done; null: unknown." }),
  },
  { optional: ["percentage"] },
);

const failedShown = record("JobFailed", {
  status: choice(["failed"]),
  message: text({ description: "Why, for people." }),
});

/** The answers of a route for a job without a result. */
export const unfinishedAnswers = {
  conflict: { description: "The job has not ended; ask again after `Retry-After`.", schema: pendingShown },
  gone: { description: "The job has failed for good.", schema: failedShown },
} as const;

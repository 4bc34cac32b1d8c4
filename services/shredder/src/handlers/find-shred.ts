import { findWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { FindShredRequest, FindShredResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { isUnderWay, patienceMs, shredding, workId } from "../cases/work.ts";
import { fault } from "../faults.ts";
import { findOwnCase } from "../store/cases.ts";

const late =
  "Not everything is erased yet, because a part of the platform is away. The rest is erased when it is back.";

/** Finds how far a case is, for the one who asked for it (D6.6). */
export async function findShred(
  { case: id, ...request }: FindShredRequest,
  { db }: { readonly db: Db },
): Promise<FindShredResponse> {
  const place = { ...request, id };
  const found = await findOwnCase(db, place);
  if (found === undefined) throw fault("shred_not_found", "There is no such erasure.");
  const isLate = found.requestedAt !== null && found.ageMs > patienceMs;
  if (isLate && found.erasedAt === null) return { state: JobState.FAILED, message: late };
  const work = await findWork(db, shredding, workId(place));
  // Its work has still to take back what services had begun.
  if (found.problem !== null && isUnderWay(work)) return { state: JobState.FAILED, message: found.problem };
  switch (work?.state) {
    case "waiting":
      return { state: JobState.WAITING, message: "" };
    case "running":
      return { state: JobState.RUNNING, message: "" };
    case "failed":
      return { state: JobState.FAILED, message: work.cause ?? "The data could not be erased." };
    case "succeeded":
      return { state: JobState.SUCCEEDED, message: "" };
    default:
      return { state: JobState.GONE, message: "How this erasure ended is no longer known." };
  }
}

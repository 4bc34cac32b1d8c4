import { findWorkOf } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { FindBatchRequest, FindBatchResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { fault } from "../faults.ts";
import { renderId, renderWorks } from "../printing/render-work.ts";

/** Finds the progress of a job (L42.1). */
export async function findBatch(request: FindBatchRequest, { db }: { readonly db: Db }): Promise<FindBatchResponse> {
  const id = renderId(request);
  const found = await findWorkOf(db, renderWorks, id);
  const none = { message: "", fileKey: "", size: 0, warnings: [], leftOut: [] };
  switch (found?.state) {
    case "waiting":
      return { ...none, state: JobState.WAITING };
    case "running":
      return { ...none, state: JobState.RUNNING, done: found.done ?? undefined, total: found.total ?? undefined };
    case "failed":
      return { ...none, state: JobState.FAILED, message: found.cause ?? "The tickets could not be rendered." };
    case "succeeded":
      return {
        ...none,
        state: JobState.SUCCEEDED,
        ...found.result,
        warnings: [...found.result.warnings],
        leftOut: [...(found.result.leftOut ?? [])],
      };
    default:
      throw fault("render_not_found", "There is no such file, or it has expired.");
  }
}

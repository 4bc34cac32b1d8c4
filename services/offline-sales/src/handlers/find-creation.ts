import { findWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { FindCreationRequest, FindCreationResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { fault } from "../faults.ts";
import { makeBatch, makingId } from "../make-work.ts";
import { requireBatch } from "../store/batches.ts";
import { requireEvent } from "../store/events.ts";
import { toWireBatch } from "../wire/batch-messages.ts";

/** Finds how far the making of a batch is (O11.4). */
export async function findCreation(
  request: FindCreationRequest,
  { db }: { readonly db: Db },
): Promise<FindCreationResponse> {
  await requireEvent(db, request);
  const found = await findWork(db, makeBatch, makingId(request));
  switch (found?.state) {
    case "waiting":
      return { state: JobState.WAITING, message: "", batch: undefined };
    case "running":
      return { state: JobState.RUNNING, message: "", batch: undefined };
    case "failed":
      return { state: JobState.FAILED, message: found.cause ?? "The batch could not be made.", batch: undefined };
    case "succeeded": {
      const { organizer, event } = request;
      const batch = await requireBatch(db, { organizer, event, id: found.result.id });
      return { state: JobState.SUCCEEDED, message: "", batch: toWireBatch(batch, batch.orders) };
    }
    default:
      throw fault("creation_not_found", "There is no such job, or it has expired.");
  }
}

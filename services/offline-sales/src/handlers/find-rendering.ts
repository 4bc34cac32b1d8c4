import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import { BatchState } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import {
  type FindRenderingRequest,
  type FindRenderingResponse,
  JobState,
} from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { Rendering } from "@tessera/protos/services";
import { requireEvent } from "../store/events.ts";
import { requireRendering, unknownRendering } from "../store/renderings.ts";

const states: Readonly<Record<BatchState, JobState>> = {
  [BatchState.UNSPECIFIED]: JobState.UNSPECIFIED,
  [BatchState.WAITING]: JobState.WAITING,
  [BatchState.RUNNING]: JobState.RUNNING,
  [BatchState.SUCCEEDED]: JobState.SUCCEEDED,
  [BatchState.FAILED]: JobState.FAILED,
  [BatchState.UNRECOGNIZED]: JobState.UNSPECIFIED,
};

/** Finds how far a rendering of a batch is. */
export async function findRendering(
  request: FindRenderingRequest,
  { db, rendering }: { readonly db: Db; readonly rendering: Client<Rendering> },
): Promise<FindRenderingResponse> {
  await requireEvent(db, request);
  await requireRendering(db, request);
  const { organizer, event, job, file } = request;
  const finding = rendering.findBatch({ organizer, event, job, file });
  const { state, done, total, message, fileKey, size, warnings } = await finding.catch((error: unknown) => {
    throw error instanceof Fault && error.kind === "not_found" ? unknownRendering() : error;
  });
  return { state: states[state], done, total, message, fileKey, size, warnings: warnings.length };
}

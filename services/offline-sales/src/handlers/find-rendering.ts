import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type {
  FindRenderingRequest,
  FindRenderingResponse,
} from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { Rendering } from "@tessera/protos/services";
import { requireEvent } from "../store/events.ts";
import { requireRendering, unknownRendering } from "../store/renderings.ts";

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
  return { state, done, total, message, fileKey, size, warnings: warnings.length };
}

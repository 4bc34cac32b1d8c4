import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { RenderBatchRequest, RenderBatchResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { Rendering } from "@tessera/protos/services";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { insertRendering } from "../store/renderings.ts";
import { requireBatch } from "../store/stored-batches.ts";

/** As many tickets as a batch may have (O6.1). */
const mostTickets = 10_000;

/** Ten thousand tickets are looked up before the job starts. */
const startingMs = 30_000;

/** Starts a job that renders the tickets of a batch into one file, in the order of its orders. */
export async function renderBatch(
  { organizer, event, id }: RenderBatchRequest,
  { db, rendering }: { readonly db: Db; readonly rendering: Client<Rendering> },
): Promise<RenderBatchResponse> {
  await requireEvent(db, { organizer, event });
  const { positions, layout, canceled } = await requireBatch(db, { organizer, event, id });
  if (canceled !== null) throw fault("batch_canceled", "The orders of this batch were canceled.");
  const parts = positions.map((position) => ({ position, overrideLayout: layout, overrideChannel: undefined }));
  const starting = rendering.startBatch({ organizer, event, parts, most: mostTickets }, { timeoutMs: startingMs });
  const { job, file } = await starting.catch((error: unknown) => {
    throw explain(error);
  });
  await insertRendering(db, { organizer, event, id, job, file });
  return { job, file };
}

/** The caller has named no parts, so the batch has the errors of its parts. */
function explain(error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== "invalid_parts") return error;
  const isLayout = Object.keys(error.fields ?? {}).some((name) => name.endsWith(".override_layout"));
  const message = isLayout ? "The layout of this batch was deleted." : "Some tickets of this batch were canceled.";
  return fault("tickets_unprintable", message, { cause: error });
}

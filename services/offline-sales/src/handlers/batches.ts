import { randomUUID } from "node:crypto";
import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { FieldErrors } from "@tessera/kit/fault";
import { enqueueWork, findWork } from "@tessera/kit/jobs/work";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Client } from "@tessera/kit/rpc";
import type {
  CreateBatchRequest,
  CreateBatchResponse,
  FindCreationRequest,
  FindCreationResponse,
  GetBatchRequest,
  GetBatchResponse,
  ListBatchesRequest,
  ListBatchesResponse,
} from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { type Layouts, OfflineSales, type Sales } from "@tessera/protos/services";
import { unknownId } from "@tessera/values";
import { fault } from "../faults.ts";
import { isThere } from "../is-there.ts";
import { makeBatch, makingId } from "../make-work.ts";
import type { BatchEvents } from "../report-events.ts";
import { requireEvent } from "../store/events.ts";
import { countBatches, pageBatches, requireBatch } from "../store/stored-batches.ts";
import { toFields, toWireBatch } from "../wire/batch-messages.ts";

/** Pages through the batches of an event. */
export async function listBatches(
  request: ListBatchesRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListBatchesResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const count = await countBatches(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageBatches(db, request, { limit, offset });
    return { batches: found.map((batch) => toWireBatch(batch)), count, page };
  });
}

/** Finds one batch of an event, with its orders. */
export async function getBatch(request: GetBatchRequest, { db }: { readonly db: Db }): Promise<GetBatchResponse> {
  await requireEvent(db, request);
  const batch = await requireBatch(db, request);
  return { batch: toWireBatch(batch, batch.orders) };
}

export interface CreateTools {
  readonly db: Db;
  readonly layouts: Client<Layouts>;
  readonly sales: Client<Sales>;
  readonly events: BatchEvents;
}

/** Starts a job that makes a batch. What can be known now is refused now; quota is looked at by the job alone. */
export async function createBatch(request: CreateBatchRequest, tools: CreateTools): Promise<CreateBatchResponse> {
  const { organizer, event, amount } = request;
  const place = { organizer, event };
  await requireEvent(tools.db, place);
  // Before the fields are judged: what was right then may be gone, and the batch is made.
  const answered = await findAnswer(tools.db, OfflineSales.createBatch);
  if (answered !== undefined) return answered;
  const errors = await findErrors(request, tools);
  if (Object.keys(errors).length > 0) throw fault("invalid_batch", "Some fields are not valid.", { fields: errors });
  let asked: string | undefined;
  const response = await answerOnce(tools.db, OfflineSales.createBatch, async (tx) => {
    const job = randomUUID();
    asked = job;
    const payload = { ...place, job, ...toFields(request) };
    await enqueueWork(tx, makeBatch, [{ id: makingId(payload), owner: organizer, payload }]);
    return { job };
  });
  if (asked !== undefined) tools.events.batchAsked(place, asked, amount);
  return response;
}

/** Finds what is wrong with the fields of a batch: boxoffice judges the sale, layout-and-render has the layout. */
async function findErrors(request: CreateBatchRequest, { sales, layouts }: CreateTools): Promise<FieldErrors> {
  const { layout: id, comment: _comment, ...sale } = request;
  const { organizer, event } = sale;
  const [isKnown, { problems }] = await Promise.all([
    isThere(layouts.getLayout({ organizer, event, id })),
    // A check names no sale that is ever made.
    sales.sellTickets({ ...sale, sale: randomUUID(), onlyCheck: true }),
  ]);
  const byField = Map.groupBy(problems, ({ field }) => (field === "" ? "non_field_errors" : field));
  return {
    ...Object.fromEntries([...byField].map(([field, found]) => [field, found.map(({ message }) => message)])),
    ...(isKnown ? {} : { layout: [unknownId(id, "layout")] }),
  };
}

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

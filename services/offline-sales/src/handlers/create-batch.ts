import { randomUUID } from "node:crypto";
import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { FieldErrors } from "@tessera/kit/fault";
import { enqueueWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { CreateBatchRequest, CreateBatchResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { type Layouts, OfflineSales, type Sales } from "@tessera/protos/services";
import { unknownId } from "@tessera/values";
import { fault } from "../faults.ts";
import { hasLayout } from "../has-layout.ts";
import { makeBatch, makingId } from "../make-work.ts";
import type { BatchEvents } from "../report-events.ts";
import { requireEvent } from "../store/events.ts";
import { toFields } from "../wire/batch-messages.ts";

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
  const { layout, comment: _comment, ...sale } = request;
  const [isKnown, { problems }] = await Promise.all([
    hasLayout(layouts, request, layout),
    // A check names no sale that is ever made.
    sales.sellTickets({ ...sale, sale: randomUUID(), onlyCheck: true }),
  ]);
  const byField = Map.groupBy(problems, ({ field }) => (field === "" ? "non_field_errors" : field));
  return {
    ...Object.fromEntries([...byField].map(([field, found]) => [field, found.map(({ message }) => message)])),
    ...(isKnown ? {} : { layout: [unknownId(layout, "layout")] }),
  };
}

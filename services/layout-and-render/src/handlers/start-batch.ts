import { randomUUID } from "node:crypto";
import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { FieldErrors } from "@tessera/kit/fault";
import { enqueueWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Client } from "@tessera/kit/rpc";
import type { StartBatchRequest, StartBatchResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { Rendering, type TicketData } from "@tessera/protos/services";
import { unknownId } from "@tessera/values";
import { fault } from "../faults.ts";
import { expectBytes, renderId, workFor } from "../printing/render-work.ts";
import { findPositions } from "../printing/ticket-data.ts";
import { findSalesChannels } from "../store/copies.ts";
import { findLayoutIds } from "../store/stored-layouts.ts";

/** The limit of a client's request (L41.3), and of a request by another service. */
const usualMost = 1000;
const greatestMost = 10_000;

export interface StartTools {
  readonly db: Db;
  readonly reads: Reads;
  readonly ticketData: Client<TicketData>;
}

/** Starts a job that renders tickets into one file. */
export async function startBatch(request: StartBatchRequest, tools: StartTools): Promise<StartBatchResponse> {
  const { organizer, event, parts, skipsFailed } = request;
  const mostParts = Math.min(request.most ?? usualMost, greatestMost);
  if (parts.length > mostParts) {
    const message = `Render at most ${mostParts} tickets at once.`;
    throw fault("too_many_parts", message, { fields: { parts: [message] } });
  }
  // Before the parts are checked: a repeated request must succeed although its tickets may be gone.
  const answered = await findAnswer(tools.db, Rendering.startBatch);
  if (answered !== undefined) return answered;
  const errors = await findErrors(request, tools);
  if (Object.keys(errors).length > 0) throw fault("invalid_parts", "Some parts are not valid.", { fields: errors });
  return answerOnce(tools.db, Rendering.startBatch, async (tx) => {
    const [job, file] = [randomUUID(), randomUUID()];
    const id = renderId({ organizer, event, job, file });
    await enqueueWork(tx, workFor(parts.length), [
      {
        id,
        owner: organizer,
        payload: { organizer, event, file, parts, skipsFailed: skipsFailed ?? false },
        bytes: expectBytes(parts.length),
      },
    ]);
    return { job, file };
  });
}

/** Finds the errors of parts, under `<index>.<field>`. */
async function findErrors({ organizer, event, parts }: StartBatchRequest, tools: StartTools): Promise<FieldErrors> {
  const place = { organizer, event };
  const named = await tools.reads.inTurn(organizer, async (db) => ({
    layouts: await findLayoutIds(
      db,
      place,
      parts.flatMap(({ overrideLayout }) => overrideLayout ?? []),
    ),
    channels: await findSalesChannels(
      db,
      place,
      parts.flatMap(({ overrideChannel }) => overrideChannel ?? []),
    ),
  }));
  const ids = [...new Set(parts.map(({ position }) => position))];
  const positions = await findPositions(tools.ticketData, place, ids);
  const wrong = parts.flatMap(({ position, overrideChannel, overrideLayout }, index): [string, string[]][] => {
    const found: [string, string[]][] = [];
    if (!positions.has(position))
      found.push([`${index}.orderposition`, [unknownId(position, "ticket, or it was canceled")]]);
    if (overrideLayout !== undefined && !named.layouts.has(overrideLayout))
      found.push([`${index}.override_layout`, [unknownId(overrideLayout, "layout")]]);
    if (overrideChannel !== undefined && !named.channels.has(overrideChannel))
      found.push([`${index}.override_channel`, [`The organizer has no sales channel "${overrideChannel}".`]]);
    return found;
  });
  return Object.fromEntries(wrong);
}

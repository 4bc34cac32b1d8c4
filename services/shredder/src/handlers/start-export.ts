import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { StartExportRequest, StartExportResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { Shredders, type Shredding } from "@tessera/protos/services";
import { openExport } from "../cases/open-case.ts";
import { requireReady } from "../cases/require-ready.ts";
import type { ShredEvents } from "../report-events.ts";

export interface StartTools {
  readonly db: Db;
  readonly shredding: Client<Shredding>;
  readonly events: ShredEvents;
}

/** Starts the export that has to come before an erasure. */
export async function startExport(request: StartExportRequest, tools: StartTools): Promise<StartExportResponse> {
  const { organizer, event, credential, instance } = request;
  const answered = await findAnswer(tools.db, Shredders.startExport);
  if (answered !== undefined) return answered;
  await requireReady(request, tools);
  const kinds = [...new Set(request.shredders)];
  let asked: string | undefined;
  const response = await answerOnce(tools.db, Shredders.startExport, async (tx) => {
    const { id, file } = await openExport(tx, { organizer, event, credential, kinds, instance });
    asked = id;
    return { export: id, file };
  });
  if (asked !== undefined) tools.events.exportAsked({ organizer, event }, asked, kinds);
  return response;
}

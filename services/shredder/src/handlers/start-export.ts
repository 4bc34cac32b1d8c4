import { randomUUID } from "node:crypto";
import { enqueueWork } from "@tessera/kit/jobs/work";
import { answerOnce } from "@tessera/kit/pg/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { StartExportRequest, StartExportResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { Shredders, type Shredding } from "@tessera/protos/services";
import type { ShredEvents } from "../events.ts";
import { requireReady } from "../require-ready.ts";
import { insertExport } from "../store/exports.ts";
import { exporting, workId } from "../work.ts";

export interface StartTools {
  readonly db: Db;
  readonly shredding: Client<Shredding>;
  readonly events: ShredEvents;
}

/** Starts the export that has to come before an erasure. */
export async function startExport(request: StartExportRequest, tools: StartTools): Promise<StartExportResponse> {
  const { organizer, event, credential, instance } = request;
  await requireReady(request, tools);
  const kinds = [...new Set(request.shredders)];
  let asked: string | undefined;
  const response = await answerOnce(tools.db, Shredders.startExport, async (tx) => {
    const [id, file] = [randomUUID(), randomUUID()];
    asked = id;
    await insertExport(tx, { organizer, event, id, file, credential, kinds, instance });
    const payload = { organizer, event, id };
    await enqueueWork(tx, exporting, [{ id: workId(payload), owner: organizer, payload }]);
    return { export: id, file };
  });
  if (asked !== undefined) tools.events.exportAsked({ organizer, event }, asked, kinds);
  return response;
}

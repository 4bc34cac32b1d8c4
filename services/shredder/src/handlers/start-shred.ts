import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { StartShredRequest, StartShredResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { Shredders, type Shredding } from "@tessera/protos/services";
import { openShred } from "../cases/open-case.ts";
import { requireReady } from "../cases/require-ready.ts";
import type { ShredEvents } from "../report-events.ts";
import { findOwnExport } from "../store/exports.ts";
import { findExport, unknownExport } from "./find-export.ts";

export interface ShredTools {
  readonly db: Db;
  readonly shredding: Client<Shredding>;
  readonly events: ShredEvents;
}

/** Starts the erasure of what was exported. An export has one case: to start it again answers the same. */
export async function startShred(request: StartShredRequest, tools: ShredTools): Promise<StartShredResponse> {
  const { organizer, event, credential, requestedBy, export: exportId } = request;
  // Its export may be erased by now.
  const answered = await findAnswer(tools.db, Shredders.startShred);
  if (answered !== undefined) return answered;
  const none = { message: "", case: "", file: "" };
  const { state, message } = await findExport(request, tools);
  if (state !== JobState.SUCCEEDED) return { ...none, exportState: state, message };
  await requireReady(request, tools);
  let kinds: readonly string[] = [];
  let isNew = false;
  const response = await answerOnce(tools.db, Shredders.startShred, async (tx) => {
    const exported = await findOwnExport(tx, { ...request, id: exportId });
    const opened = exported && (await openShred(tx, exported, { credential, requestedBy }));
    if (exported === undefined || opened === undefined) throw unknownExport();
    kinds = exported.kinds;
    isNew = opened.isNew;
    return { ...none, exportState: state, case: opened.id, file: opened.file };
  });
  if (isNew) tools.events.shredAsked({ organizer, event }, response.case, kinds);
  return response;
}

import { randomUUID } from "node:crypto";
import { enqueueWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import {
  ShredState,
  type StartShredRequest,
  type StartShredResponse,
} from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import type { Shredding } from "@tessera/protos/services";
import type { ShredEvents } from "../events.ts";
import { fault } from "../faults.ts";
import { requireReady } from "../require-ready.ts";
import { openCase } from "../store/cases.ts";
import { findOwnExport } from "../store/exports.ts";
import { shredding as shred, workId } from "../work.ts";
import { findExport } from "./find-export.ts";

export interface ShredTools {
  readonly db: Db;
  readonly shredding: Client<Shredding>;
  readonly events: ShredEvents;
}

/** Starts the erasure of what was exported. An export has one case: to start it again answers the same. */
export async function startShred(request: StartShredRequest, tools: ShredTools): Promise<StartShredResponse> {
  const { organizer, event, credential, export: exportId } = request;
  const none = { message: "", case: "", file: "" };
  const { state, message } = await findExport(request, tools);
  if (state !== ShredState.SUCCEEDED) return { ...none, exportState: state, message };
  await requireReady(request, tools);
  const proposed = { id: randomUUID(), file: randomUUID(), credential };
  const { opened, kinds } = await tools.db.transaction(async (tx) => {
    const exported = await findOwnExport(tx, { ...request, id: exportId });
    if (exported === undefined) throw fault("export_not_found", "There is no such export, or it has expired.");
    const found = await openCase(tx, exported, proposed);
    const payload = { organizer, event, id: found.id };
    await enqueueWork(tx, shred, [{ id: workId(payload), owner: organizer, payload }]);
    return { opened: found, kinds: exported.kinds };
  });
  if (opened.id === proposed.id) tools.events.shredAsked({ organizer, event }, opened.id, kinds);
  return { ...none, exportState: state, case: opened.id, file: opened.file };
}

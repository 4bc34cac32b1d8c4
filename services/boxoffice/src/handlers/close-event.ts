import { findErasure, noteCase } from "@tessera/events/personal-data/erasures";
import { changedSince, takenBack } from "@tessera/events/personal-data/holder";
import type { Db } from "@tessera/kit/pg/database";
import type { CloseEventRequest, CloseEventResponse } from "@tessera/protos/gen/platform/v1/personal_data";
import { refuseShredding } from "../domain/refuse-shredding.ts";
import { findEnding, isAwaitingFiles, versionOf } from "../store/erase-documents.ts";
import { locksOf, takeLocks } from "../store/locks.ts";

/** Closes an event to records with kinds of personal data, if its conditions hold, under the lock of the event. */
export function closeEvent(request: CloseEventRequest, { db }: { readonly db: Db }): Promise<CloseEventResponse> {
  const { organizer, event } = request;
  const scope = { organizer, event };
  return db.transaction(async (tx) => {
    await takeLocks(tx, locksOf([scope]));
    if ((await findErasure(tx, request)) !== undefined) return { problem: undefined };
    const ending = await findEnding(tx, scope);
    if (ending === undefined) return { problem: "The event was deleted." };
    const refusal = refuseShredding(ending);
    if (refusal !== undefined) return { problem: refusal };
    const { version } = await tx.one<{ version: string }>(versionOf(scope));
    if (version !== request.version) return { problem: changedSince };
    // The export lacks such an answer, but the erasure would delete it.
    if (request.kinds.includes("question_answers") && (await isAwaitingFiles(tx, scope)))
      return { problem: changedSince };
    return { problem: (await noteCase(tx, request)) ? undefined : takenBack };
  });
}

import { Fault } from "@tessera/kit/fault";
import type { ApplyRecordsRequest, ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { applyRecordsOf, type RecordStores } from "@tessera/records/apply-records";
import { recordOwner } from "../records/all-kinds.ts";
import { removeUntil } from "../records/event-removal.ts";

const apply = applyRecordsOf(recordOwner);

/** Less than the sender's timeout. If this is not enough, the sender repeats the batch. */
const longestRemovalMs = 10_000;

/**
 * Applies records of boxoffice's kinds. Records of an event that is being removed wait for the end, and help with it.
 */
export async function applyRecords(request: ApplyRecordsRequest, stores: RecordStores): Promise<ApplyRecordsResponse> {
  const until = performance.now() + longestRemovalMs;
  const organizers = [...new Set(request.records.map(({ organizer }) => organizer))];
  for (;;) {
    try {
      return await apply(request, stores);
    } catch (error) {
      if (!(error instanceof Fault && error.code === "event_being_removed")) throw error;
      if (!(await removeUntil(stores.db, organizers, () => performance.now() > until))) throw error;
    }
  }
}

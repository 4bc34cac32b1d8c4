import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { ApplyRecordsRequest, ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { applyRecordsOf, type RecordStores } from "@tessera/records/apply-records";
import { removeUntil } from "../leftovers/remove-vouchers.ts";
import { recordOwner } from "../records/record-owner.ts";
import { findBeingRemoved } from "../store/gone-events.ts";

const apply = applyRecordsOf(recordOwner);

/** Less than the sender's timeout. If this is not enough, the sender repeats the batch. */
const longestRemovalMs = 10_000;

/**
 * Applies records of vouchers. The sender waits until the entities that they refer to have arrived here. Records of an
 * event that was created again wait until the vouchers of the deleted event are gone, and help to delete them.
 */
export async function applyRecords(request: ApplyRecordsRequest, stores: RecordStores): Promise<ApplyRecordsResponse> {
  const until = performance.now() + longestRemovalMs;
  for (;;) {
    try {
      return await apply(request, stores);
    } catch (error) {
      if (!(error instanceof Fault && error.code === "voucher_event_being_removed")) throw error;
      if (!(await removeAll(stores.db, request, { until }))) throw error;
    }
  }
}

async function removeAll(
  db: Db,
  { records }: ApplyRecordsRequest,
  { until }: { readonly until: number },
): Promise<boolean> {
  for (const place of await findBeingRemoved(db, records)) {
    if (!(await removeUntil(db, place, async () => performance.now() > until))) return false;
  }
  return true;
}

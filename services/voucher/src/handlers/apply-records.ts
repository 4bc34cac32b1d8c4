import { applyAfterRemoval } from "@tessera/records/apply-after-removal";
import { applyRecordsOf } from "@tessera/records/apply-records";
import { removeUntil } from "../leftovers/remove-vouchers.ts";
import { recordOwner } from "../records/record-owner.ts";
import { findBeingRemoved } from "../store/gone-events.ts";

/**
 * Applies records of vouchers. The sender waits until the entities that they refer to have arrived here. Records of an
 * event that was created again wait until the vouchers of the deleted event are gone, and help to delete them.
 */
export const applyRecords = applyAfterRemoval(applyRecordsOf(recordOwner), {
  code: "voucher_event_being_removed",
  async removeUntil(db, { records }, isOver) {
    for (const place of await findBeingRemoved(db, records)) {
      if (!(await removeUntil(db, place, async () => isOver()))) return false;
    }
    return true;
  },
});

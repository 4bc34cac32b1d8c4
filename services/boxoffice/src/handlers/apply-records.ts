import { applyAfterRemoval } from "@tessera/records/apply-after-removal";
import { applyRecordsOf } from "@tessera/records/apply-records";
import { recordOwner } from "../records/all-kinds.ts";
import { removeUntil } from "../records/event-removal.ts";

/** Applies records of boxoffice's kinds. Records of an event that is being removed wait for the end, and help with it. */
export const applyRecords = applyAfterRemoval(applyRecordsOf(recordOwner), {
  code: "event_being_removed",
  removeUntil: (db, { records }, isOver) =>
    removeUntil(db, [...new Set(records.map(({ organizer }) => organizer))], isOver),
});

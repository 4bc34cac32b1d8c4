import { applyRecordsOf } from "@tessera/records/apply-records";
import { recordOwner } from "../records/record-owner.ts";

/** Applies records of check-in lists. The sender waits until the entities that they refer to have arrived here. */
export const applyRecords = applyRecordsOf(recordOwner);

import { applyRecordsOf } from "@tessera/records/apply-records";
import { recordOwner } from "../records/record-owner.ts";

/** Applies records of layouts and assignments. The sender waits until what they refer to has arrived here. */
export const applyRecords = applyRecordsOf(recordOwner);

import { applyRecordsOf } from "@tessera/records/apply-records";
import { recordOwner } from "../records/all-kinds.ts";

/** Applies records of boxoffice's kinds. */
export const applyRecords = applyRecordsOf(recordOwner);

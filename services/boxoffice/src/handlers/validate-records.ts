import { validateRecordsOf } from "@tessera/records/validate-records";
import { recordOwner } from "../records/all-kinds.ts";

/** Answers what would become of records. */
export const validateRecords = validateRecordsOf(recordOwner);

import { validateRecordsOf } from "@tessera/records/validate-records";
import { recordOwner } from "../records/all-kinds.ts";

export const validateRecords = validateRecordsOf(recordOwner);

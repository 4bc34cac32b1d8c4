import { validateRecordsOf } from "@tessera/records/validate-records";
import { recordOwner } from "../records/record-owner.ts";

export const validateRecords = validateRecordsOf(recordOwner);

import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of all owners of records. */
export const fault = faultCodes({
  examination_busy: "unavailable",
  files_take_long: "unmet",
});

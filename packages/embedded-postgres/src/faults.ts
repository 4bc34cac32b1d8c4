import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of the embedded server. */
export const fault = faultCodes({
  data_directory_in_use: "unmet",
  data_directory_of_other_version: "unmet",
  embedded_database_failed: "unmet",
});

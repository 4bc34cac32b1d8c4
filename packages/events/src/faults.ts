import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of all holders of personal data. */
export const fault = faultCodes({
  erasure_incomplete: "conflict",
  unknown_export: "invalid",
});

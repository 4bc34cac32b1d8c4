import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of examinations. */
export const fault = faultCodes({
  examination_overloaded: "unavailable",
});

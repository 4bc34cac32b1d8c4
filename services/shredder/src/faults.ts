import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of shredder. */
export const fault = faultCodes({
  answers_missing: "unavailable",
  certificate_not_found: "not_found",
  export_not_found: "not_found",
  holders_missing: "unavailable",
  not_shreddable: "invalid",
  shred_not_found: "not_found",
});

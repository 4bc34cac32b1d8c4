import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of the developer tools. */
export const fault = faultCodes({
  bad_count: "invalid",
  engine_failed: "unmet",
  engine_missing: "unmet",
  no_pgbench: "unmet",
  process_ended: "unmet",
  process_not_ready: "timeout",
  unknown_bench: "invalid",
});

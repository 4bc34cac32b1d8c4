import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of offline-sales. */
export const fault = faultCodes({
  batch_canceled: "invalid",
  batch_event_not_found: "not_found",
  batch_not_found: "not_found",
  batch_rendering_not_found: "not_found",
  creation_not_found: "not_found",
  invalid_batch: "invalid",
  tickets_unprintable: "invalid",
});

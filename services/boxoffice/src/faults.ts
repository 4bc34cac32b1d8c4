import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of boxoffice. */
export const fault = faultCodes({
  ambiguous_id: "invalid",
  answer_file_missing: "unavailable",
  answer_file_not_found: "not_found",
  api_key_not_found: "not_found",
  bad_token_hash: "invalid",
  device_not_found: "not_found",
  event_being_removed: "conflict",
  document_not_found: "not_found",
  document_unreadable: "unmet",
  hold_released: "conflict",
  invalid_credential: "invalid",
  invalid_hold: "invalid",
  no_such_event: "not_found",
  order_too_large: "unmet",
  organizer_not_found: "not_found",
  sale_differs: "invalid",
  sale_invalid: "invalid",
  sale_not_found: "not_found",
  too_many_answer_files: "invalid",
  too_many_events: "invalid",
  too_many_needs: "invalid",
  too_many_positions: "unmet",
  too_many_tickets: "invalid",
});

import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of layout-and-render. */
export const fault = faultCodes({
  invalid_draft: "invalid",
  invalid_parts: "invalid",
  render_not_found: "not_found",
  ticket_not_downloadable: "forbidden",
  ticket_not_found: "not_found",
  ticket_too_large: "unmet",
  ticket_unprintable: "unmet",
  too_many_parts: "invalid",
  assignment_not_found: "not_found",
  background_gone: "invalid",
  background_lost: "unmet",
  background_overloaded: "unavailable",
  background_replaced: "conflict",
  background_not_found: "not_found",
  invalid_assignments: "invalid",
  layout_event_not_found: "not_found",
  layout_not_found: "not_found",
  second_default: "invalid",
  background_unusable: "unmet",
  too_many_backgrounds: "invalid",
  browser_lost: "unavailable",
  browser_missing: "unavailable",
  print_queue_full: "exhausted",
  print_too_slow: "timeout",
});

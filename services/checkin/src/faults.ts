import { faultCodes } from "@tessera/kit/faults";

export const fault = faultCodes({
  alarm_not_found: "not_found",
  checkin_list_not_found: "not_found",
  double_not_found: "not_found",
  event_not_found: "not_found",
  export_interrupted: "unmet",
  invalid_annulment: "invalid",
  invalid_checkin_list: "invalid",
  invalid_cursor: "invalid",
  invalid_failed_scan: "invalid",
  invalid_lists: "invalid",
  position_not_found: "not_found",
  scan_not_found: "not_found",
  too_many_checkins: "invalid",
  too_many_doubtful: "invalid",
  too_many_first_entries: "invalid",
  unknown_events: "forbidden",
  unknown_lists: "invalid",
});

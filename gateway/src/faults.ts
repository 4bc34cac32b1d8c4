import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of the gateway. */
export const fault = faultCodes({
  body_too_large: "invalid",
  body_too_slow: "invalid",
  changed_since: "unmet",
  device_revoked: "unauthenticated",
  downloads_busy: "unavailable",
  empty_credentials: "unauthenticated",
  gzip_bomb: "invalid",
  gzip_broken: "invalid",
  invalid_body: "invalid",
  invalid_query: "invalid",
  key_inactive: "unauthenticated",
  key_not_used: "not_found",
  key_too_long: "invalid",
  key_used: "invalid",
  malformed_body: "invalid",
  malformed_credentials: "unauthenticated",
  malformed_path: "invalid",
  malformed_query: "invalid",
  method_not_allowed: "invalid",
  no_credentials: "unauthenticated",
  no_file_name: "invalid",
  not_acceptable: "invalid",
  not_records: "invalid",
  owner_unavailable: "unavailable",
  rate_limited: "exhausted",
  request_under_way: "conflict",
  scan_undecided: "unavailable",
  simulation_not_supported: "invalid",
  stopping: "unavailable",
  too_many_redeems: "exhausted",
  unknown_format: "not_found",
  unknown_token: "unauthenticated",
  unsupported_media_type: "invalid",
  uploads_busy: "unavailable",
});

/** A code of the gateway or of the kit. */
export type GatewayFault = Parameters<typeof fault>[0];

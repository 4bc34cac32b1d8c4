import { faultCodes } from "@tessera/kit/faults";

/** Makes the faults of voucher. */
export const fault = faultCodes({
  event_not_found: "not_found",
  hold_lost: "conflict",
  invalid_filter: "invalid",
  invalid_mask: "invalid",
  invalid_voucher: "invalid",
  invalid_vouchers: "invalid",
  too_many_vouchers: "invalid",
  voucher_changed: "conflict",
  voucher_not_found: "not_found",
  voucher_used: "forbidden",
});

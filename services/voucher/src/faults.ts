import { faultCodes } from "@tessera/kit/faults";

export const fault = faultCodes({
  event_being_erased: "conflict",
  hold_lost: "conflict",
  invalid_asks: "invalid",
  invalid_positions: "invalid",
  invalid_reservation: "invalid",
  invalid_voucher: "invalid",
  invalid_vouchers: "invalid",
  reservation_confirmed: "unmet",
  reservation_differs: "unmet",
  reservation_expired: "unmet",
  reservation_not_found: "not_found",
  reservation_released: "unmet",
  too_many_asks: "invalid",
  too_many_vouchers: "invalid",
  voucher_changed: "conflict",
  voucher_event_being_removed: "conflict",
  voucher_event_not_found: "not_found",
  voucher_not_found: "not_found",
  voucher_reserved: "forbidden",
  voucher_used: "forbidden",
});

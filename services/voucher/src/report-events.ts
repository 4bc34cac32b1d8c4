import type { Log } from "@tessera/kit/telemetry/log";
import type { EntityKey, EventKey } from "./store/keys.ts";

/** Log lines of what happens here. None of them ever contains a code or a comment. */
export type VoucherEvents = ReturnType<typeof reportEvents>;

export function reportEvents({ log }: { readonly log: Log }) {
  return {
    vouchersCreated({ organizer, event }: EventKey, count: number): void {
      log.info("vouchers created", { organizer, event, vouchers: count });
    },
    voucherChanged({ organizer, event }: EventKey, voucher: number): void {
      log.info("voucher changed", { organizer, event, voucher });
    },
    voucherDeleted({ organizer, event }: EventKey, voucher: number): void {
      log.info("voucher deleted", { organizer, event, voucher });
    },
    usesReserved({ organizer, event }: EventKey, uses: number): void {
      log.debug("uses of vouchers reserved", { organizer, event, uses });
    },
    reservationConfirmed({ organizer, event }: EventKey, uses: number): void {
      log.info("uses of vouchers confirmed", { organizer, event, uses });
    },
    reservationReleased({ organizer, event }: EventKey, uses: number): void {
      log.debug("reserved uses of vouchers released", { organizer, event, uses });
    },
    holdReleased({ organizer, event }: EventKey): void {
      log.info("a hold of capacity was released: no voucher came of it", { organizer, event });
    },
    voucherNotTold({ organizer, event, id }: EntityKey, error: unknown): void {
      log.warn("boxoffice was not told of a voucher; its fact says the same later", {
        organizer,
        event,
        voucher: id,
        error,
      });
    },
    holdNotReleased({ organizer, event }: EventKey, error: unknown): void {
      log.warn("a hold of capacity is to be released and was not; it is tried again", { organizer, event, error });
    },
  };
}

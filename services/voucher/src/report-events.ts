import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { EntityKey, EventKey } from "./store/keys.ts";

/** Log lines and counters of what happens here. None of them ever contains a code or a comment. */
export type VoucherEvents = ReturnType<typeof reportEvents>;

export function reportEvents({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }) {
  const changes = metrics.counter("voucher_changes_total", "Vouchers created, changed, deleted or imported.", [
    "change",
  ]);
  const released = metrics.counter("voucher_holds_released_total", "Holds of capacity that no voucher came of.");
  const reservedUses = metrics.counter(
    "voucher_reserved_uses_total",
    "Uses reserved, confirmed or released by shops.",
    ["change"],
  );
  return {
    vouchersCreated({ organizer, event }: EventKey, count: number): void {
      changes.add({ change: "created" }, count);
      log.info("vouchers created", { organizer, event, vouchers: count });
    },
    voucherChanged({ organizer, event }: EventKey, voucher: number): void {
      changes.add({ change: "changed" });
      log.info("voucher changed", { organizer, event, voucher });
    },
    voucherDeleted({ organizer, event }: EventKey, voucher: number): void {
      changes.add({ change: "deleted" });
      log.info("voucher deleted", { organizer, event, voucher });
    },
    vouchersImported(count: number): void {
      if (count > 0) changes.add({ change: "imported" }, count);
    },
    usesReserved({ organizer, event }: EventKey, uses: number): void {
      reservedUses.add({ change: "reserved" }, uses);
      log.debug("uses of vouchers reserved", { organizer, event, uses });
    },
    reservationConfirmed({ organizer, event }: EventKey, uses: number): void {
      reservedUses.add({ change: "confirmed" }, uses);
      log.info("uses of vouchers confirmed", { organizer, event, uses });
    },
    reservationReleased({ organizer, event }: EventKey, uses: number): void {
      reservedUses.add({ change: "released" }, uses);
      log.debug("reserved uses of vouchers released", { organizer, event, uses });
    },
    holdReleased({ organizer, event }: EventKey): void {
      released.add();
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

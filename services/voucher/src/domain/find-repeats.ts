import type { VoucherErrors } from "./check-voucher.ts";
import type { VoucherFields } from "./voucher.ts";

const repeatedSeat = "Another voucher of this request is for the same seat.";
const repeatedCode = "Another voucher of this request has the same code.";

/** Finds vouchers of one request that repeat a seat or a code. A repeated seat comes first, under `code`. */
export function findRepeats(
  vouchers: readonly Pick<VoucherFields, "code" | "seat" | "subevent">[],
): readonly VoucherErrors[] {
  const codes = new Set<string>();
  const seats = new Set<string>();
  return vouchers.map(({ code, seat, subevent }): VoucherErrors => {
    const place = `${subevent ?? ""} ${seat}`;
    if (seat !== null && seats.has(place)) return { code: [repeatedSeat] };
    if (seat !== null) seats.add(place);
    if (code === "") return {};
    if (codes.has(code)) return { code: [repeatedCode] };
    codes.add(code);
    return {};
  });
}

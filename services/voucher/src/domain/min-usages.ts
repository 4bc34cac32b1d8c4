import type { Voucher } from "./voucher.ts";

/** Returns how often a voucher must be redeemed at least, the next time it is redeemed. */
export function leastUsages({ minUsages, redeemed }: Pick<Voucher, "minUsages" | "redeemed">): number {
  return Math.max(1, minUsages - redeemed);
}

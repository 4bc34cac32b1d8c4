import type { Voucher } from "./voucher.ts";

/** Returns how many usages the next redemption must have at least. */
export function leastUsages({ minUsages, redeemed }: Pick<Voucher, "minUsages" | "redeemed">): number {
  return Math.max(1, minUsages - redeemed);
}

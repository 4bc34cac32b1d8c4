import type { VoucherFields } from "./voucher.ts";

/** The tag of vouchers for guests of the waiting list; their comments name the guest (D3.7). */
export const waitingListTag = "waiting-list";

/** Replaces an erased comment: a full block. */
export const mask = "\u2588";

export function namesGuest({ tag, comment }: Pick<VoucherFields, "tag" | "comment">): boolean {
  return tag === waitingListTag && comment !== "" && comment !== mask;
}

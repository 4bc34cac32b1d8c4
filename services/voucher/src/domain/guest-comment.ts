import type { VoucherFields } from "./voucher.ts";

/** The tag of vouchers for guests of the waiting list; their comments say who they are (D3.7). */
export const waitingListTag = "waiting-list";

/** What stands in the place of an erased comment: a full block. */
export const mask = "\u2588";

/** Whether the comment of a voucher says for which guest it is. */
export function namesGuest({ tag, comment }: Pick<VoucherFields, "tag" | "comment">): boolean {
  return tag === waitingListTag && comment !== "" && comment !== mask;
}

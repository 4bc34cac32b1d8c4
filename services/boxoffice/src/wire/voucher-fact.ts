import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { VoucherClaimRow } from "../store/voucher-claims.ts";

/** Reads what a voucher takes. One that is used up takes nothing; one that blocks no quota may still claim a seat. */
export function toVoucherClaim({
  organizer,
  event,
  id,
  revision,
  voucher,
}: VoucherChanged): VoucherClaimRow | undefined {
  const fields = voucher?.fields;
  if (voucher === undefined || fields === undefined) return undefined;
  const { item, variation, quota, subevent, validUntil } = fields;
  const left = Math.max(fields.maxUsages - voucher.redeemed, 0);
  const amount = fields.blockQuota ? left : 0;
  const seat = left > 0 ? fields.seat : undefined;
  return { organizer, event, id, revision, item, variation, quota, subevent, amount, validUntil, seat };
}

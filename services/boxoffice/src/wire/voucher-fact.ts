import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { VoucherClaimRow } from "../store/voucher-claim-rows.ts";

/** Reads the claim of a voucher; a deleted voucher takes nothing. */
export function toVoucherClaim({
  organizer,
  event,
  id,
  revision,
  voucher,
  recordedUses,
  countedAsOf,
}: VoucherChanged): VoucherClaimRow {
  const { fields } = voucher ?? {};
  if (fields === undefined) return { organizer, event, id, revision, blocks: false, recordedUses: 0 };
  const { item, variation, quota, subevent, validUntil, seat, maxUsages, blockQuota: blocks } = fields;
  const place = { organizer, event, id, revision };
  return {
    ...place,
    item,
    variation,
    quota,
    subevent,
    validUntil,
    seat,
    maxUsages,
    blocks,
    recordedUses,
    countedAsOf,
  };
}

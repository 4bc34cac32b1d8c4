import { answerOnce } from "@tessera/events/answer-once";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { DeleteVoucherRequest, DeleteVoucherResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Vouchers } from "@tessera/protos/services";
import { entityKey, topics } from "@tessera/protos/topics";
import { type HoldTools, tellVouchers } from "../capacity/holds.ts";
import { isClaiming } from "../domain/takes-capacity.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { countReserved } from "../store/reservations.ts";
import { isUsed } from "../store/uses.ts";
import { deleteVouchers, lockVouchers, nextRevisions } from "../store/vouchers.ts";

/** Deletes a voucher that was never used, and that no cart has reserved, and releases its capacity. */
export async function deleteVoucher(request: DeleteVoucherRequest, tools: HoldTools): Promise<DeleteVoucherResponse> {
  const { db, events } = tools;
  const { organizer, event, id } = request;
  let isDeleted = false;
  let told: readonly VoucherChanged[] = [];
  const response = await answerOnce(db, Vouchers.deleteVoucher, async (tx) => {
    await requireEvent(tx, request);
    const [voucher] = await lockVouchers(tx, [{ organizer, event, id }]);
    if (voucher === undefined) throw fault("voucher_not_found", "The event has no such voucher.");
    if (voucher.redeemed > 0 || (await isUsed(tx, request)))
      throw fault("voucher_used", "This voucher was used, so it cannot be deleted.");
    if ((await countReserved(tx, request)) > 0)
      throw fault("voucher_reserved", "A cart has reserved this voucher; delete it when the reservation has ended.");
    await deleteVouchers(tx, [{ organizer, event, id }]);
    const [deletedAt = 0] = await nextRevisions(tx, 1);
    await tx.retract(topics.voucherChanged, [entityKey(organizer, event, id)], { deletedAt });
    isDeleted = true;
    const gone = {
      organizer,
      event,
      id,
      revision: deletedAt,
      changed: deletedAt,
      voucher: undefined,
      recordedUses: 0,
    };
    told = isClaiming(voucher) ? [gone] : [];
    return {};
  });
  if (isDeleted) events.voucherDeleted({ organizer, event }, id);
  if (told.length > 0) await tellVouchers(tools, told);
  return response;
}

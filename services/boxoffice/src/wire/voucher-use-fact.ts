import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { NamingPosition } from "../store/rebuild-reads.ts";

/** The fact of a position's voucher use; undefined: it names no voucher. */
export function toVoucherUse({
  organizer,
  event,
  id,
  revision,
  state,
  since,
}: NamingPosition): VoucherUseChanged | undefined {
  const { voucher, order, canceled, voucherBudgetUse: budgetUse } = Position.decode(state);
  if (voucher === undefined) return undefined;
  if (order === undefined) throw new Error("a position is stored without its order");
  const { status: orderStatus } = order;
  return {
    organizer,
    event,
    id,
    revision,
    voucher,
    orderStatus,
    canceled,
    budgetUse,
    since,
  };
}

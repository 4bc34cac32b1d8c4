import { nameOf } from "@tessera/events/entity-key";
import type { Db } from "@tessera/kit/pg/database";
import type { TellVouchersRequest, TellVouchersResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { endHolds, lockHeld } from "../store/holds.ts";
import { lockTold } from "../store/voucher-claim-rows.ts";
import { storeStates } from "../uses/store-states.ts";

/**
 * Applies states of vouchers before their facts arrive. Facts of earlier states may still be under way: a deleted
 * voucher keeps a claim of nothing until its tombstone. A call may be later than the tombstone; the voucher is then
 * unknown, without hold or claim.
 */
export async function tellVouchers(
  { vouchers }: TellVouchersRequest,
  { db }: { db: Db },
): Promise<TellVouchersResponse> {
  await db.transaction(async (tx) => {
    // Lock order as in the consumer of facts: holds, then claims.
    const known = new Set([...(await lockHeld(tx, vouchers)), ...(await lockTold(tx, vouchers))].map(nameOf));
    await storeStates(
      tx,
      vouchers.filter((voucher) => known.has(nameOf(voucher))),
    );
    await endHolds(
      tx,
      vouchers.map(({ organizer, event, id, changed }) => ({ organizer, event, voucher: id, changed })),
    );
  });
  return {};
}

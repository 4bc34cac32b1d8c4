import { nameOf } from "@tessera/events/entity-key";
import type { Db } from "@tessera/kit/pg/database";
import type { TellVouchersRequest, TellVouchersResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { endHolds, lockHeld } from "../store/holds.ts";
import { lockTold } from "../store/voucher-claim-rows.ts";
import { storeStates } from "../voucher-states.ts";

/**
 * Takes what facts of vouchers say before they arrive. Facts of earlier states may still be on their way: a deleted voucher
 * keeps a claim that takes nothing until the fact of its deletion. A call may be later than that fact, whose voucher is then
 * unknown: nothing is held for it and nothing was told of it.
 */
export async function tellVouchers(
  { vouchers }: TellVouchersRequest,
  { db }: { db: Db },
): Promise<TellVouchersResponse> {
  await db.transaction(async (tx) => {
    // In the order of the consumer of facts.
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

import type { Db } from "@tessera/kit/pg/database";
import type { TellVouchersRequest, TellVouchersResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { endHolds } from "../store/holds.ts";
import { storeStates } from "../voucher-states.ts";

/**
 * Takes what facts of vouchers say before they arrive. Facts of earlier states may still be on their way: a deleted voucher
 * keeps a claim that takes nothing until the fact of its deletion.
 */
export async function tellVouchers(
  { vouchers }: TellVouchersRequest,
  { db }: { db: Db },
): Promise<TellVouchersResponse> {
  await db.transaction(async (tx) => {
    await storeStates(tx, vouchers);
    await endHolds(
      tx,
      vouchers.map(({ organizer, event, id, changed }) => ({ organizer, event, voucher: id, changed })),
    );
  });
  return {};
}

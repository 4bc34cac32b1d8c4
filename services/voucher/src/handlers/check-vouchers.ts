import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import type { CheckVouchersRequest, CheckVouchersResponse } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { offerVoucher } from "../domain/offer-voucher.ts";
import { toWireAnswer } from "../wire/shop.ts";
import { findMarket } from "./find-market.ts";
import { readAsks } from "./read-asks.ts";

/** Computes prices with vouchers. Each ask is answered as if it were alone, and takes nothing. */
export async function checkVouchers(
  request: CheckVouchersRequest,
  { db, clock }: { readonly db: Db; readonly clock: Clock },
): Promise<CheckVouchersResponse> {
  const { organizer, event } = request;
  const asks = readAsks({ organizer, event }, request.asks);
  const market = await findMarket(db, { organizer, event }, { asks, now: clock.now() });
  return { answers: asks.map((ask) => toWireAnswer(offerVoucher(ask, market))) };
}

import type { Db } from "@tessera/kit/pg/database";
import type { GetVoucherRequest, GetVoucherResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { requireEvent } from "../store/events.ts";
import { requireVoucher } from "../store/vouchers.ts";
import { toWireVoucher } from "../wire/voucher-messages.ts";

export async function getVoucher(request: GetVoucherRequest, { db }: { readonly db: Db }): Promise<GetVoucherResponse> {
  await requireEvent(db, request);
  return { voucher: toWireVoucher(await requireVoucher(db, request)) };
}

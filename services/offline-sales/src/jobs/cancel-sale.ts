import type { Client } from "@tessera/kit/rpc";
import type { CancelSaleRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import type { Sales } from "@tessera/protos/services";
import { isThere } from "../is-there.ts";

/** Boxoffice makes or cancels ten thousand orders in a second or two, if it need not wait for others. */
export const sellingMs = 30_000;

/** Cancels a sale, or keeps it from being made; false: there is no such event. */
export function cancelSale(sales: Client<Sales>, sale: CancelSaleRequest, signal: AbortSignal): Promise<boolean> {
  return isThere(sales.cancelSale(sale, { timeoutMs: sellingMs, signal }));
}

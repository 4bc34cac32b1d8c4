import { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { CancelSaleRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import type { Sales } from "@tessera/protos/services";

/** Boxoffice makes or cancels ten thousand orders in a second or two, if it need not wait for others. */
export const sellingMs = 30_000;

/** Cancels a sale, or keeps it from being made; false: there is no such event. */
export async function cancelSale(sales: Client<Sales>, sale: CancelSaleRequest, signal: AbortSignal): Promise<boolean> {
  try {
    await sales.cancelSale(sale, { timeoutMs: sellingMs, signal });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.kind === "not_found") return false;
    throw error;
  }
}

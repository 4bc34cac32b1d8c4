import { workOn } from "@tessera/kit/jobs/work-on";
import type { Client } from "@tessera/kit/rpc";
import { pause } from "@tessera/kit/waiting/pause";
import type { Sales } from "@tessera/protos/services";
import { cancelEnded } from "../cancel-work.ts";
import { cancelSale, sellingMs } from "./cancel-sale.ts";

/**
 * Cancels sales of jobs that ended with their event. Boxoffice may have another event with the name since before the jobs ended:
 * then it has sold the tickets in that one.
 *
 * While there is no such event, none has the tickets. But a call of a job may still be on the way, for so long: after it the sales
 * are canceled again.
 */
export const cancelEndedWithin = (longestMs: number) =>
  workOn(cancelEnded, async ({ payload, signal }, { sales }: { readonly sales: Client<Sales> }) => {
    if (!(await cancelAll())) {
      await pause(longestMs, signal);
      signal.throwIfAborted();
      await cancelAll();
    }
    return async () => {};

    async function cancelAll(): Promise<boolean> {
      const { organizer, event } = payload;
      for (const sale of payload.sales) {
        if (!(await cancelSale(sales, { organizer, event, sale }, signal))) return false;
      }
      return true;
    }
  });

export const cancelEndedSales = cancelEndedWithin(sellingMs);

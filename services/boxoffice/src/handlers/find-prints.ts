import type { Reads } from "@tessera/kit/pg/reads";
import type { FindPrintsRequest, FindPrintsResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { hasPrints, readPrints } from "../store/prints.ts";
import { toPrint } from "../wire/order-messages.ts";

const mostBytes = 4 * 2 ** 20;

/** Finds what was printed for positions. */
export async function findPrints(
  { organizer, event, positions }: FindPrintsRequest,
  { reads }: { readonly reads: Reads },
): Promise<FindPrintsResponse> {
  return reads.inTurn(organizer, async (db) => {
    const { prints } = await readPrints(db, { organizer, event }, { positions, mostBytes });
    return {
      positions: Array.from(prints, ([position, stored]) => ({ position, prints: stored.map(toPrint) })),
      hasAny: prints.size > 0 || (await hasPrints(db, { organizer, event })),
    };
  });
}

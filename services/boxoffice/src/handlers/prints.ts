import { answerOnce } from "@tessera/events/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  FindPrintsRequest,
  FindPrintsResponse,
  RecordPrintRequest,
  RecordPrintResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { Orders } from "@tessera/protos/services";
import { fault } from "../faults.ts";
import { addPrint, hasPrints, readPrints } from "../store/stored-prints.ts";
import { toPrint } from "../wire/order-messages.ts";

/** Stores what a device says it has printed for a position. */
export async function recordPrint(
  { organizer, event, position, print }: RecordPrintRequest,
  { db }: { readonly db: Db },
): Promise<RecordPrintResponse> {
  if (print === undefined) throw new Error("a print was sent without its fields");
  const { successful, at, source, type, deviceId = null } = print;
  const info = JSON.parse(Buffer.from(print.info).toString()) as object;
  return answerOnce(db, Orders.recordPrint, async (tx) => {
    const stored = await addPrint(tx, { organizer, event }, { position, successful, at, source, type, deviceId, info });
    if (stored === undefined) throw fault("order_position_not_found", "Not found.");
    return { print: toPrint(stored) };
  });
}

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

import type { Reads } from "@tessera/kit/pg/reads";
import type { NextDoublesRequest, NextDoublesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { toDouble, toDoubleFilter } from "../../wire/double-messages.ts";
import { readNextDoubles, requireFilter } from "./read-doubles.ts";

/** Reads the doubles of the next tickets, for tables of any length. */
export async function nextDoubles(
  request: NextDoublesRequest,
  { reads }: { readonly reads: Reads },
): Promise<NextDoublesResponse> {
  const { organizer, event, after } = request;
  const filter = toDoubleFilter(request.filter);
  return reads.inTurn(organizer, async (db) => {
    if (after === undefined) await requireFilter(db, { organizer, event }, filter);
    const { doubles, next } = await readNextDoubles(db, { organizer, event }, { filter, after });
    return { doubles: doubles.map(toDouble), next };
  });
}

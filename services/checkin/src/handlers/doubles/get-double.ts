import type { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { GetDoubleRequest, GetDoubleResponse } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import type { NotedDouble } from "../../domain/double-filter.ts";
import { fault } from "../../faults.ts";
import { findPlaceOfScan, type TicketOnList } from "../../store/doubtful-scans.ts";
import type { EntityKey } from "../../store/keys.ts";
import { toDouble } from "../../wire/double-messages.ts";
import { readDoublesOf } from "./read-doubles.ts";

/** Shows one double, by the id of its later scan. */
export async function getDouble(
  request: GetDoubleRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetDoubleResponse> {
  return { double: toDouble(await reads.inTurn(request.organizer, (db) => requireDouble(db, request))) };
}

/** Decides all scans of its ticket again: a late exit or an annulment may have ended it. */
export async function requireDouble(db: Queryable, { organizer, event, id }: EntityKey): Promise<NotedDouble> {
  const place = { organizer, event };
  const doubles = await readDoublesOf(db, place, [await requirePlaceOfDouble(db, { organizer, event, id })]);
  const found = doubles.find(({ scan }) => scan.id === id);
  if (found === undefined) throw notFound();
  return found;
}

/** Finds the ticket and the list of a scan that may be a double. */
export async function requirePlaceOfDouble(db: Queryable, { organizer, event, id }: EntityKey): Promise<TicketOnList> {
  const found = await findPlaceOfScan(db, { organizer, event }, id);
  if (found === undefined) throw notFound();
  return found;
}

function notFound(): Fault {
  return fault("double_not_found", "The event has no such double.");
}

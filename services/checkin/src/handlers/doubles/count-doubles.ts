import type { Reads } from "@tessera/kit/pg/reads";
import type { CountDoublesRequest, CountDoublesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { DoubleCounts } from "../../domain/double-filter.ts";
import { toCount, toDoubleFilter } from "../../wire/double-messages.ts";
import { readAllDoubles, requireFilter } from "./read-doubles.ts";

/** Counts the doubles of an event, and those that each device and each gate has a scan of. */
export async function countDoubles(
  request: CountDoublesRequest,
  { reads }: { readonly reads: Reads },
): Promise<CountDoublesResponse> {
  const { organizer, event } = request;
  const filter = toDoubleFilter(request.filter);
  const counts = new DoubleCounts();
  await reads.inTurn(organizer, async (db) => {
    await requireFilter(db, { organizer, event }, filter);
    await readAllDoubles(db, { organizer, event }, { filter, add: (double) => counts.add(double) });
  });
  const { count, explained, devices, gates } = counts;
  return { count, explained, devices: devices.map(toCount), gates: gates.map(toCount) };
}

import { answerOnce } from "@tessera/events/answer-once";
import type { Fault } from "@tessera/kit/fault";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  CountDoublesRequest,
  CountDoublesResponse,
  ExplainDoubleRequest,
  ExplainDoubleResponse,
  GetDoubleRequest,
  GetDoubleResponse,
  ListDoublesRequest,
  ListDoublesResponse,
  NextDoublesRequest,
  NextDoublesResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { Doubles } from "@tessera/protos/services";
import { DoubleCounts, type NotedDouble, sortDoubles } from "../../domain/double-filter.ts";
import { fault } from "../../faults.ts";
import { lockTicket } from "../../store/annulled-scans.ts";
import { deleteDoubleNote, putDoubleNote } from "../../store/double-notes.ts";
import { findPlaceOfScan, type TicketOnList } from "../../store/doubtful-scans.ts";
import { lockForScan } from "../../store/failed-scans.ts";
import type { EntityKey } from "../../store/keys.ts";
import { toCount, toDouble, toDoubleFilter } from "../../wire/double-messages.ts";
import { readAllDoubles, readDoublesOf, readNextDoubles, requireFilter } from "./read-doubles.ts";

/** Pages through the doubles of an event. Each page is made of all scans that may be part of one: there is no second truth. */
export async function listDoubles(
  request: ListDoublesRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListDoublesResponse> {
  const { organizer, event, ordering } = request;
  const filter = toDoubleFilter(request.filter);
  const found: NotedDouble[] = [];
  await reads.inTurn(organizer, async (db) => {
    await requireFilter(db, { organizer, event }, filter);
    await readAllDoubles(db, { organizer, event }, { filter, add: (double) => void found.push(double) });
  });
  const { page, limit, offset } = cutPage(request, found.length);
  const shown = sortDoubles(found, ordering).slice(offset, offset + limit);
  return { doubles: shown.map(toDouble), count: found.length, page };
}

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

/** Shows one double, by the id of its later scan. */
export async function getDouble(
  request: GetDoubleRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetDoubleResponse> {
  return { double: toDouble(await reads.inTurn(request.organizer, (db) => requireDouble(db, request))) };
}

/** Decides all scans of its ticket again: a late exit or an annulment may have ended it. */
async function requireDouble(db: Queryable, { organizer, event, id }: EntityKey): Promise<NotedDouble> {
  const place = { organizer, event };
  const doubles = await readDoublesOf(db, place, [await requirePlaceOfDouble(db, { organizer, event, id })]);
  const found = doubles.find(({ scan }) => scan.id === id);
  if (found === undefined) throw notFound();
  return found;
}

/** Finds the ticket and the list of a scan that may be a double. */
async function requirePlaceOfDouble(db: Queryable, { organizer, event, id }: EntityKey): Promise<TicketOnList> {
  const found = await findPlaceOfScan(db, { organizer, event }, id);
  if (found === undefined) throw notFound();
  return found;
}

function notFound(): Fault {
  return fault("double_not_found", "The event has no such double.");
}

/** Stores what somebody found out about a double, or takes it back. */
export async function explainDouble(
  request: ExplainDoubleRequest,
  { db }: { readonly db: Db },
): Promise<ExplainDoubleResponse> {
  const { organizer, event, text, by } = request;
  return answerOnce(
    db,
    Doubles.explainDouble,
    async (tx) => {
      const { position, list } = await requirePlaceOfDouble(tx, request);
      // Ticket and list are deleted with their notes, and would miss this one. They are locked in the order of scans.
      await lockTicket(tx, { organizer, event, id: position });
      await lockForScan(tx, "list", { organizer, event, id: list });
      await requireDouble(tx, request);
      if (text === "") await deleteDoubleNote(tx, request);
      else await putDoubleNote(tx, request, { position, list, text, by });
      return { double: toDouble(await requireDouble(tx, request)) };
    },
    { of: { organizer, event }, repeats: ["attendee_info"] },
  );
}

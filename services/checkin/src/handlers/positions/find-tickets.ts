import type { Readers } from "@tessera/admission";
import type { Clock } from "@tessera/kit/clock";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListPositionsRequest, PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { CheckinList } from "../../domain/list.ts";
import { type EventInfo, requireEvent } from "../../store/events.ts";
import { readPositions } from "../../store/listed-positions.ts";
import { requireList } from "../../store/lists.ts";
import type { PositionFilter } from "../../store/position-filter.ts";
import type { TicketRead } from "../../store/ticket-rows.ts";
import { choosePositions, findUnknownIds, resolveVoucher, type Texts } from "./choose-positions.ts";
import { type ExpandedPositions, expandPositions } from "./expand-positions.ts";
import { findAdmitted, type Scanned } from "./find-admitted.ts";
import { type FoundPage, findPage, type SoughtPage } from "./find-page.ts";
import { presentTicket } from "./present-ticket.ts";

type Request = Pick<ListPositionsRequest, "organizer" | "event" | "list" | "ignoreStatus" | "expand" | "filters"> &
  Texts;

export interface PositionDeps {
  readonly reads: Reads;
  readonly clock: Clock;
  readonly readers: Readers;
}

/** Reads the event and the list of a request, and the filter of its tickets; `id` selects a single ticket. */
export async function readRequest(
  db: Queryable,
  request: Request & { readonly id?: number },
  { clock, readers }: Pick<PositionDeps, "clock" | "readers">,
) {
  const { organizer, event: slug, ignoreStatus, filters, id } = request;
  const event = await requireEvent(db, request);
  const list = await requireList(db, { organizer, event: slug, id: request.list });
  const scanned = whereScanned(list, filters, { clock, readers });
  const voucherOfCode = await resolveVoucher(db, request, filters);
  const choice = choosePositions(request, { usableAt: scanned?.at, voucherOfCode });
  const filter: PositionFilter = { organizer, event: slug, list, ignoreStatus, id, ...choice };
  return { event, filter, scanned, unknown: await findUnknownIds(db, request, filters) };
}

/** Presents tickets as their list sees them, with the resources that the request expands. */
export async function showTickets(
  db: Queryable,
  { organizer, event: slug, list, expand }: Request,
  { tickets, event }: { readonly tickets: readonly TicketRead[]; readonly event: EventInfo },
): Promise<ExpandedPositions> {
  const positions = tickets.map((ticket) => presentTicket(ticket, { list, event }));
  return expandPositions(db, { organizer, event: slug, list }, { expand, positions });
}

interface FoundTickets extends Omit<FoundPage, "ids"> {
  readonly tickets: readonly TicketRead[];
}

interface Asked extends SoughtPage {
  /** The simulated scan: tickets that the rules of the list refuse are left out. Undefined: none is simulated. */
  readonly scanned: Scanned | undefined;
}

/**
 * Returns the scan to simulate. Undefined, unless the request filters admissible tickets and the list has rules:
 * without rules clients look for refused tickets, too.
 */
function whereScanned(
  list: CheckinList,
  filters: PositionFilters | undefined,
  { clock, readers }: { readonly clock: Clock; readonly readers: Readers },
): Scanned | undefined {
  const rules = filters?.admissibleNow === true ? readers.rules(list.rules) : null;
  return rules === null ? undefined : { at: clock.now(), gate: filters?.gate ?? null, rules, readers };
}

/** Finds one page of tickets. Count and tickets are of one snapshot. */
export async function findTickets(
  db: Db,
  filter: PositionFilter,
  { scanned, ...sought }: Asked,
): Promise<FoundTickets> {
  return db.transaction(async (tx) => {
    const { ids, ...page } =
      scanned === undefined
        ? await findPage(tx, filter, sought)
        : await findAdmitted(tx, filter, { ...sought, ...scanned });
    return { ...page, tickets: await readPositions(tx, { ...filter, list: filter.list.id }, ids) };
  });
}

import type { Clock } from "@tessera/kit/clock";
import { cutPage } from "@tessera/kit/cut-page";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type { ListPositionsRequest, PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { CheckinList } from "../../domain/list.ts";
import { judgeRules } from "../../domain/rules/judge-rules.ts";
import type { Rules } from "../../domain/rules/read-rules.ts";
import type { Readers } from "../../readers.ts";
import { type EventInfo, requireEvent } from "../../store/events.ts";
import { countPositions, findPositionIds, pagePositions, readPositions } from "../../store/listed-positions.ts";
import { requireList } from "../../store/lists.ts";
import type { PositionFilter } from "../../store/position-filter.ts";
import { readJudgedTickets } from "../../store/rule-facts.ts";
import type { TicketRead } from "../../store/ticket-rows.ts";
import { choosePositions, findUnknownIds, type Texts } from "./choose-positions.ts";
import { type ExpandedPositions, expandPositions } from "./expand-positions.ts";
import { presentTicket } from "./present-ticket.ts";

/** The requests for tickets of a list. */
type Request = Pick<ListPositionsRequest, "organizer" | "event" | "list" | "ignoreStatus" | "expand" | "filters"> &
  Texts;

export interface PositionDeps {
  readonly reads: Db;
  readonly clock: Clock;
  readonly readers: Readers;
}

/** Reads the event and the list of a request, and which tickets it asks for; `id` names a single one. */
export async function readRequest(
  request: Request & { readonly id?: number },
  { reads, clock, readers }: PositionDeps,
) {
  const { organizer, event: slug, ignoreStatus, filters, id } = request;
  const event = await requireEvent(reads, request);
  const list = await requireList(reads, { organizer, event: slug, id: request.list });
  const scanned = whereScanned(list, filters, { clock, readers });
  const choice = choosePositions(request, { usableAt: scanned?.at });
  const filter: PositionFilter = { organizer, event: slug, list, ignoreStatus, id, ...choice };
  return { event, filter, scanned, unknown: await findUnknownIds(reads, request, filters) };
}

/** Presents tickets as their list sees them, with what the request asks for of what they refer to. */
export async function showTickets(
  db: Queryable,
  { organizer, event: slug, list, expand }: Request,
  { tickets, event }: { readonly tickets: readonly TicketRead[]; readonly event: EventInfo },
): Promise<ExpandedPositions> {
  const positions = tickets.map((ticket) => presentTicket(ticket, { list, event }));
  return expandPositions(db, { organizer, event: slug, list }, { expand, positions });
}

/** One page of the tickets that were found. */
interface FoundTickets {
  readonly tickets: readonly TicketRead[];
  /** Of all pages. */
  readonly count: number;
  readonly page: number;
}

interface Asked {
  readonly ordering: readonly string[];
  readonly page: number;
  readonly pageSize: number;
  /** Where the tickets that are asked for would be scanned now: those that the rules of the list refuse are left out. */
  readonly scanned: Scanned | undefined;
}

interface Scanned {
  readonly at: number;
  readonly gate: number | null;
  readonly rules: Rules;
  readonly readers: Pick<Readers, "zone">;
}

/**
 * Finds where the tickets would be scanned. Undefined, unless the filters ask for admissible tickets only and the list
 * has rules: without rules clients look for refused tickets, too.
 */
function whereScanned(
  list: CheckinList,
  filters: PositionFilters | undefined,
  { clock, readers }: { readonly clock: Clock; readonly readers: Readers },
): Scanned | undefined {
  const rules = filters?.admissibleNow === true ? readers.rules(list.rules) : null;
  return rules === null ? undefined : { at: clock.now(), gate: filters?.gate ?? null, rules, readers };
}

/** Finds one page of tickets. */
export async function findTickets(db: Queryable, filter: PositionFilter, asked: Asked): Promise<FoundTickets> {
  if (asked.scanned !== undefined) return findAdmitted(db, filter, { ...asked, ...asked.scanned });
  const count = await countPositions(db, filter);
  const { page, limit, offset } = cutPage(asked, count);
  const tickets = count === 0 ? [] : await pagePositions(db, filter, { ordering: asked.ordering, limit, offset });
  return { tickets, count, page };
}

/**
 * Rules are judged ticket by ticket: of so many, which takes under a second. The tickets after them are shown unjudged,
 * as for clients that do not ask; only their scan is judged.
 */
const mostJudged = 20_000;

/** Read at a time. */
const judgedAtOnce = 1000;

async function findAdmitted(
  db: Queryable,
  filter: PositionFilter,
  asked: Omit<Asked, "scanned"> & Scanned,
): Promise<FoundTickets> {
  const { ordering, at, gate, rules, readers } = asked;
  const candidates = await findPositionIds(db, filter, { ordering, limit: mostJudged, offset: 0 });
  const admitted: number[] = [];
  for (let from = 0; from < candidates.length; from += judgedAtOnce) {
    const ids = candidates.slice(from, from + judgedAtOnce);
    for (const { id, timezone, ...facts } of await readJudgedTickets(db, { ...filter, list: filter.list.id }, ids)) {
      const verdict = judgeRules(rules, { ...facts, at, gate, zone: readers.zone(timezone) });
      if (verdict.outcome === "allowed") admitted.push(id);
    }
  }
  const unjudged =
    candidates.length < mostJudged ? 0 : Math.max(0, (await countPositions(db, filter)) - candidates.length);
  const count = admitted.length + unjudged;
  const { page, limit, offset } = cutPage(asked, count);
  const ids = admitted.slice(offset, offset + limit);
  const rest = limit - ids.length;
  if (unjudged > 0 && rest > 0) {
    const behind = mostJudged + Math.max(0, offset - admitted.length);
    ids.push(...(await findPositionIds(db, filter, { ordering, limit: rest, offset: behind })));
  }
  return { tickets: await readPositions(db, { ...filter, list: filter.list.id }, ids), count, page };
}

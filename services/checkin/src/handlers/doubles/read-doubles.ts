import type { Queryable } from "@tessera/kit/pg/database";
import { type DoubleFilter, isWanted, type NotedDouble } from "../../domain/double-filter.ts";
import { findDoubles } from "../../domain/find-doubles.ts";
import { fault } from "../../faults.ts";
import { readTicketsOfDoubles } from "../../store/double-notes.ts";
import { nextDoubtful, readScansOnLists, type TicketOnList } from "../../store/doubtful-scans.ts";
import { requireEvent } from "../../store/events.ts";
import type { EventKey } from "../../store/keys.ts";
import { requireKnown } from "../unknown-ids.ts";

/** Tickets that are looked at together: few enough that a statement is quick, and that deciding them stops no scan. */
const ticketsAtOnce = 500;

/** The most tickets that are looked at for one answer: so many take about a second. */
const mostTickets = 20_000;

/** Decides all scans of some tickets, and adds what is known of their doubles. */
export async function readDoublesOf(
  db: Queryable,
  place: EventKey,
  tickets: readonly TicketOnList[],
): Promise<NotedDouble[]> {
  const scans = await readScansOnLists(db, place, tickets);
  const found = scans.flatMap(({ position, list, terms, scans: inOrder }) =>
    findDoubles(inOrder, terms).map((double) => ({ ...double, position, list })),
  );
  const told = await readTicketsOfDoubles(
    db,
    place,
    found.map(({ scan, position }) => ({ scan: scan.id, position })),
  );
  return found.flatMap((double, index) => {
    const ticket = told[index];
    return ticket === undefined ? [] : [{ ...double, ...ticket }];
  });
}

/** Reads the wanted doubles of the next tickets. `next` is where to go on; undefined: there are no more. */
export async function readNextDoubles(
  db: Queryable,
  place: EventKey,
  { filter, after }: { readonly filter: DoubleFilter; readonly after: TicketOnList | undefined },
): Promise<{ readonly doubles: NotedDouble[]; readonly next: TicketOnList | undefined }> {
  const { list, position } = filter;
  const tickets = await nextDoubtful(db, place, { after, limit: ticketsAtOnce, list, position });
  const doubles = await readDoublesOf(db, place, tickets);
  return {
    doubles: doubles.filter((double) => isWanted(double, filter)),
    next: tickets.length < ticketsAtOnce ? undefined : tickets.at(-1),
  };
}

/** Hands over all wanted doubles of an event. */
export async function readAllDoubles(
  db: Queryable,
  place: EventKey,
  { filter, add }: { readonly filter: DoubleFilter; readonly add: (double: NotedDouble) => void },
): Promise<void> {
  let left = mostTickets;
  for (let after: TicketOnList | undefined; ; left -= ticketsAtOnce) {
    if (left <= 0)
      throw fault(
        "too_many_doubtful",
        `More than ${mostTickets} tickets have to be looked at. Ask for one list at a time, or for the table as CSV.`,
      );
    const { doubles, next } = await readNextDoubles(db, place, { filter, after });
    for (const double of doubles) add(double);
    if (next === undefined) return;
    after = next;
  }
}

/** Throws if the event does not exist, or has no such list or ticket. */
export async function requireFilter(db: Queryable, place: EventKey, { list, position }: DoubleFilter): Promise<void> {
  await requireEvent(db, place);
  await requireKnown(db, place, { list, position });
}

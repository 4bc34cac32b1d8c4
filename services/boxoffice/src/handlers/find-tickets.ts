import type { Db } from "@tessera/kit/pg/database";
import type {
  FindTicketsRequest,
  FindTicketsResponse,
  WantedTicket,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { fault } from "../faults.ts";
import * as tickets from "../store/tickets.ts";
import { positionChanged } from "../wire/position-fact.ts";

/** The limit of one statement. */
const mostWanted = 256;

/** The limit of an answer. */
const mostFound = 16_000;

/** Finds the orders with a ticket of one of these secrets, as their facts. */
export async function findTickets(
  { tickets: wanted }: FindTicketsRequest,
  { db }: { db: Db },
): Promise<FindTicketsResponse> {
  if (wanted.length > mostWanted) {
    throw fault("too_many_tickets", `ask for ${mostWanted} tickets at most`);
  }
  const possible = wanted.filter(isPossible);
  if (possible.length === 0) return { facts: [] };
  const found = await tickets.findTickets(db, possible, { most: mostFound + 1 });
  if (found.length > mostFound) {
    throw fault("too_many_positions", "these orders have too many positions; ask for fewer tickets");
  }
  return { facts: found.map((position) => Buffer.from(positionChanged.encode(position))) };
}

/** A slug with a slash could match tickets of another event, and stored texts have no NUL. */
function isPossible({ organizer, event, secret }: WantedTicket): boolean {
  return ![organizer, event].some((slug) => slug.includes("/")) && !`${organizer}${event}${secret}`.includes("\0");
}

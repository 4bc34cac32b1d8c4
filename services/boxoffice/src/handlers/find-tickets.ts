import type { Db } from "@tessera/kit/pg/database";
import type {
  FindTicketsRequest,
  FindTicketsResponse,
  WantedTicket,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { fault } from "../faults.ts";
import * as tickets from "../store/tickets.ts";
import { positionChanged } from "../wire/position-fact.ts";

/** What a gate asks for at a time is read at once. */
const mostWanted = 256;

/** More do not fit into an answer. */
const mostFound = 16_000;

/** Finds the orders that have a ticket of one of some secrets, as their facts tell of them. */
export async function findTickets(
  { tickets: wanted }: FindTicketsRequest,
  { db }: { db: Db },
): Promise<FindTicketsResponse> {
  if (wanted.length > mostWanted) {
    throw fault("too_many_tickets", `ask for ${mostWanted} tickets at most`);
  }
  const possible = wanted.filter(canBe);
  if (possible.length === 0) return { facts: [] };
  const found = await tickets.findTickets(db, possible, { most: mostFound + 1 });
  if (found.length > mostFound) {
    throw fault("too_many_positions", "these orders have too many positions; ask for fewer tickets");
  }
  return { facts: found.map((position) => Buffer.from(positionChanged.encode(position))) };
}

/** A slash in a slug would lead to somebody else's tickets, and there is none; nor can texts hold a null character. */
function canBe({ organizer, event, secret }: WantedTicket): boolean {
  return ![organizer, event].some((slug) => slug.includes("/")) && !`${organizer}${event}${secret}`.includes("\0");
}

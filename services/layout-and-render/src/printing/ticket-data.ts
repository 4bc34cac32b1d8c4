import type { Client } from "@tessera/kit/rpc";
import type { ReadTicketDataResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import type { TicketData } from "@tessera/protos/services";
import type { EventData } from "../domain/sample-ticket.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { EventKey } from "../store/keys.ts";
import { readEventData, readTickets } from "../wire/read-tickets.ts";

/** Boxoffice reads a thousand orders in far less. */
const timeoutMs = 10_000;

/** The limit of one request. */
const mostAtOnce = 1000;

interface Asked extends EventKey {
  readonly signal?: AbortSignal | undefined;
}

/** Finds which of these positions exist and are not canceled. */
export async function findPositions(
  ticketData: Client<TicketData>,
  asked: Asked,
  positions: readonly number[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for await (const answer of readAnswers(ticketData, { ...asked, onlyReferences: true }, positions)) {
    for (const { position } of answer.tickets) found.add(position);
  }
  return found;
}

/** Reads the data of tickets, by position. Missing positions are left out. */
export async function readTicketsOf(
  ticketData: Client<TicketData>,
  asked: Asked,
  positions: readonly number[],
): Promise<ReadonlyMap<number, Ticket>> {
  const found = new Map<number, Ticket>();
  for await (const answer of readAnswers(ticketData, { ...asked, onlyReferences: false }, positions)) {
    // Without a ticket there are no documents.
    const tickets = answer.tickets.length === 0 ? [] : readTickets(answer);
    for (const ticket of tickets) found.set(ticket.position.id, ticket);
  }
  return found;
}

/** Reads the data of an event, and its newest tickets up to a limit and to the size of one answer. */
export async function readNewestTickets(
  ticketData: Client<TicketData>,
  { organizer, event, signal }: Asked,
  most: number,
): Promise<{ readonly data: EventData; readonly tickets: readonly Ticket[] }> {
  const answer = await ticketData.readTicketData(
    { organizer, event, positions: [], onlyReferences: false, newest: Math.min(most, mostAtOnce) },
    { timeoutMs, signal },
  );
  const tickets = answer.tickets.length === 0 ? [] : readTickets(answer);
  return { data: readEventData(answer, tickets), tickets };
}

/** Repeats requests until all positions are answered: an answer has as many as fit. */
async function* readAnswers(
  ticketData: Client<TicketData>,
  { organizer, event, onlyReferences, signal }: Asked & { readonly onlyReferences: boolean },
  positions: readonly number[],
): AsyncGenerator<ReadTicketDataResponse> {
  for (let at = 0; at < positions.length; ) {
    const asked = positions.slice(at, at + mostAtOnce);
    const answer = await ticketData.readTicketData(
      { organizer, event, positions: asked, onlyReferences, newest: undefined },
      { timeoutMs, signal },
    );
    if (answer.answered < 1) throw new Error("boxoffice answered for no position");
    yield answer;
    at += answer.answered;
  }
}

import { type Implementation, implement } from "@tessera/kit/rpc";
import {
  type ReadTicketDataRequest,
  ReadTicketDataResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import { TicketData } from "@tessera/protos/services";
import { json, ticketFact } from "./ticket-fact.ts";

/** A ticket that boxoffice answers. */
export interface SoldTicket {
  readonly id: number;
  readonly secret: string;
  readonly attendeeName: string;
}

/** A boxoffice with these tickets of item 1 in every event, which records its requests. */
export function sell(tickets: readonly SoldTicket[]): {
  readonly peer: Implementation;
  readonly asked: ReadTicketDataRequest[];
} {
  const asked: ReadTicketDataRequest[] = [];
  const peer = implement(TicketData, {
    readTicketData: async (request) => {
      asked.push(request);
      const { newest, positions } = request;
      const found =
        newest === undefined ? tickets.filter(({ id }) => positions.includes(id)) : tickets.slice(0, newest);
      return answer(found, newest ?? positions.length);
    },
  });
  return { peer, asked };
}

function answer(tickets: readonly SoldTicket[], answered: number): ReadTicketDataResponse {
  return {
    ...ReadTicketDataResponse.decode(new Uint8Array()),
    tickets: tickets.map(({ id }) => ({ position: id, order: "ABCDE", item: 1, salesChannel: "web" })),
    answered,
    positions: tickets.map(ticketFact),
    organizer: json({ slug: "org", name: "Organizer" }),
    event: json({
      name: { en: "Harbour Festival", de: "Hafenfest" },
      date_from: "2027-06-12T19:00:00Z",
      date_to: null,
      location: { en: "Old Harbour\nHamburg" },
      currency: "EUR",
      timezone: "Europe/Berlin",
      meta_data: { city: "Hamburg" },
      item_meta_properties: {},
    }),
    settings: json({ locale: "de", name_scheme: "full", ticket_secret_length: 40 }),
    items: tickets.length === 0 ? [] : [{ key: "1", json: json({ id: 1, name: { en: "Day pass" } }) }],
    orders: tickets.length === 0 ? [] : [{ key: "ABCDE", json: json({}) }],
    questions: [
      { key: "9", json: json({ id: 9, identifier: "DIET", type: "S" }) },
      { key: "8", json: json({ id: 8, identifier: "PHOTO", type: "F" }) },
    ],
  };
}

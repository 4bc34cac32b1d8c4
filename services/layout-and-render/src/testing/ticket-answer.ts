import type { Client } from "@tessera/kit/rpc";
import {
  type ReadTicketDataRequest,
  ReadTicketDataResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import type { FirstEntries, TicketData } from "@tessera/protos/services";
import { json, paidOrder, ticketFact } from "./ticket-fact.ts";

/** The answer of boxoffice: each existing position is a ticket of item 1, for its attendee. */
export function ticketAnswer(
  { organizer, positions }: ReadTicketDataRequest,
  {
    exists = () => true,
    attendeeName = () => "Ann Lee",
  }: { exists?: (position: number) => boolean; attendeeName?: (position: number) => string } = {},
): ReadTicketDataResponse {
  const found = positions.filter(exists);
  return {
    ...ReadTicketDataResponse.decode(new Uint8Array()),
    tickets: found.map((position) => ({ position, order: paidOrder.code, item: 1, salesChannel: "web" })),
    answered: positions.length,
    positions: found.map((id) => ticketFact({ id, attendeeName: attendeeName(id) })),
    organizer: json({ slug: organizer, name: "Organizer" }),
    event: json({ name: { en: "Festival" }, date_from: "2025-12-27T19:05:00Z", currency: "EUR", timezone: "UTC" }),
    settings: json({}),
    items: [{ key: "1", json: json({ id: 1, name: { en: "Ticket" }, variations: [] }) }],
    orders: [{ key: paidOrder.code, json: json({}) }],
  };
}

export const allTickets: Client<TicketData> = { readTicketData: async (request) => ticketAnswer(request) };

export const noScans: Client<FirstEntries> = { findFirstEntries: async () => ({ scanned: [] }) };

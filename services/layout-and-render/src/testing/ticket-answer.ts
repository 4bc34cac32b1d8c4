import type { Client } from "@tessera/kit/rpc";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import {
  type ReadTicketDataRequest,
  ReadTicketDataResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import type { FirstEntries, TicketData } from "@tessera/protos/services";
import { at } from "./ticket.ts";

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

const order = {
  code: "ABCDE",
  status: OrderStatus.PAID,
  validIfPending: false,
  requireApproval: false,
  locale: "en",
  placedAt: at("2025-06-30T22:15:00Z"),
  email: "ann@example.org",
  checkinAttention: false,
};

/** The answer of boxoffice: each existing position is a ticket of item 1, for its attendee. */
export function ticketAnswer(
  { organizer, event, positions }: ReadTicketDataRequest,
  {
    exists = () => true,
    attendeeName = () => "Ann Lee",
  }: { exists?: (position: number) => boolean; attendeeName?: (position: number) => string } = {},
): ReadTicketDataResponse {
  const empty = Position.decode(new Uint8Array());
  const found = positions.filter(exists);
  return {
    ...ReadTicketDataResponse.decode(new Uint8Array()),
    tickets: found.map((position) => ({ position, order: order.code, item: 1, salesChannel: "web" })),
    answered: positions.length,
    positions: found.map((id) => {
      const position = {
        ...empty,
        id,
        positionid: id,
        item: 1,
        price: "23.00",
        secret: `secret${id}`,
        attendeeName: attendeeName(id),
        order,
      };
      return Buffer.from(
        PositionChanged.encode({ organizer, event, revision: 1, position, earlierCheckins: [] }).finish(),
      );
    }),
    organizer: json({ slug: organizer, name: "Organizer" }),
    event: json({ name: { en: "Festival" }, date_from: "2025-12-27T19:05:00Z", currency: "EUR", timezone: "UTC" }),
    settings: json({}),
    items: [{ key: "1", json: json({ id: 1, name: { en: "Ticket" }, variations: [] }) }],
    orders: [{ key: order.code, json: json({}) }],
  };
}

export const allTickets: Client<TicketData> = { readTicketData: async (request) => ticketAnswer(request) };

export const noScans: Client<FirstEntries> = { findFirstEntries: async () => ({ scanned: [] }) };

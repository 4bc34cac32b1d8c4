import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { at } from "./print-ticket.ts";

export const json = (value: unknown) => Buffer.from(JSON.stringify(value));

export const paidOrder = {
  code: "ABCDE",
  status: OrderStatus.PAID,
  validIfPending: false,
  requireApproval: false,
  locale: "en",
  placedAt: at("2025-06-30T22:15:00Z"),
  email: "ann@example.org",
  checkinAttention: false,
};

/** What boxoffice publishes about a ticket of item 1. */
export function ticketFact(sold: Partial<Position> & Pick<Position, "id">): Buffer {
  const ofItem = { positionid: sold.id, item: 1, price: "23.00", secret: `secret${sold.id}`, order: paidOrder };
  const position = { ...Position.decode(new Uint8Array()), ...ofItem, ...sold };
  const fact = { organizer: "org", event: "fest", revision: 1, position, earlierCheckins: [] };
  return Buffer.from(PositionChanged.encode(fact).finish());
}

import type { OrderStatus } from "@tessera/admission";

/** How a ticket counts: `pending` only on lists that include pending orders. */
export type CountedAs = "paid" | "pending_valid" | "pending";

/** Finds how a ticket counts; null where no list counts it. */
export function countedAs(ticket: {
  readonly canceled: boolean;
  readonly orderStatus: OrderStatus;
  readonly validIfPending: boolean;
}): CountedAs | null {
  if (ticket.canceled) return null;
  if (ticket.orderStatus === "paid") return "paid";
  if (ticket.orderStatus === "pending") return ticket.validIfPending ? "pending_valid" : "pending";
  return null;
}

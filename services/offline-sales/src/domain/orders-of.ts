import type { BatchTickets } from "./batch.ts";

/** Finds the orders of some of the tickets of a batch, in the order of the batch. */
export function ordersOf({ orders, positions }: BatchTickets, wanted: Iterable<number>): string[] {
  const chosen = new Set(wanted);
  return orders.filter((_order, index) => chosen.has(positions[index] ?? 0));
}

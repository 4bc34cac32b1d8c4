import { expect, it } from "vitest";
import { ordersOf } from "./orders-of.ts";

const tickets = { orders: ["AAA11", "BBB22", "CCC33"], positions: [30, 10, 20] };

it("finds the orders of tickets in the order of the batch", () => {
  expect(ordersOf(tickets, [20, 30])).toEqual(["AAA11", "CCC33"]);
  expect(ordersOf(tickets, [])).toEqual([]);
  expect(ordersOf(tickets, [99])).toEqual([]);
});

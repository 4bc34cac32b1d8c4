import { expect, it } from "vitest";
import { checkAssignments, compareAssignments } from "./check-assignments.ts";

const known = {
  items: new Set([1, 2]),
  salesChannels: new Set(["web", "resellers"]),
  others: [{ id: 9, layout: 5, item: 2, salesChannel: "resellers" }],
};

it("[L4.2] an assignment names a product and a channel that there are, once, and that no other layout is for", () => {
  const wanted = [
    { item: 1, salesChannel: "web" },
    { item: 3, salesChannel: "magic" },
    { item: 1, salesChannel: "web" },
    { item: 2, salesChannel: "resellers" },
    { item: 2, salesChannel: "web" },
  ];
  expect(checkAssignments(wanted, known)).toEqual([
    {},
    {
      item: ['Invalid id "3": this event has no such item.'],
      sales_channel: ["Object with identifier=magic does not exist."],
    },
    { non_field_errors: [expect.stringContaining("already")] },
    { non_field_errors: [expect.stringContaining("Layout 5")] },
    {},
  ]);
});

it("assignments that stay are neither gone nor new", () => {
  const before = [
    { id: 1, layout: 7, item: 1, salesChannel: "web" },
    { id: 2, layout: 7, item: 2, salesChannel: "web" },
  ];
  const wanted = [
    { item: 2, salesChannel: "web" },
    { item: 2, salesChannel: "resellers" },
  ];
  expect(compareAssignments(before, wanted)).toEqual({ gone: [before[0]], fresh: [wanted[1]] });
});

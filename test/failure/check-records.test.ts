import { expect, it } from "vitest";
import { checkRecords, type ShownPosition } from "./check-records.ts";

const position = (id: number, changes: Partial<ShownPosition> = {}): ShownPosition => ({
  id,
  order: "A",
  secret: `s${id}`,
  attendee_name: "Guest",
  item: 1,
  variation: null,
  ...changes,
});
const imported = new Map([1, 2].map((id) => [id, position(id)]));

it("records that REST shows as imported have no differences", () => {
  expect(checkRecords(imported, [position(2), position(1)])).toEqual([]);
});

it.each<[string, ShownPosition[], RegExp]>([
  ["missing", [position(1)], /1 positions are not shown, for instance 2/],
  ["left over", [position(1), position(2), position(3)], /1 positions should be gone, for instance 3/],
  ["shown twice", [position(1), position(2), position(2)], /1 positions are shown twice/],
  [
    "out of date",
    [position(1), position(2, { attendee_name: "Old" })],
    /position 2 has attendee_name Old instead of Guest/,
  ],
])("what is %s is found", (_name, shown, text) => {
  const found = checkRecords(imported, shown);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(text);
});

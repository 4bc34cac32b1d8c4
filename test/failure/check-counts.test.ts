import { expect, it } from "vitest";
import { checkCounts, type ShownStatus, type StoredPosition } from "./check-counts.ts";
import type { StoredScan } from "./check-scans.ts";

const position = (id: number, changes: Partial<StoredPosition> = {}): StoredPosition => ({
  id,
  item: 1,
  variation: null,
  canceled: false,
  orderStatus: "paid",
  validIfPending: false,
  ...changes,
});
const scan = (id: number, of: number, changes: Partial<StoredScan> = {}): StoredScan => ({
  id,
  list: 1,
  position: of,
  type: "entry",
  successful: true,
  reason: null,
  nonce: null,
  at: id,
  ...changes,
});

const positions = [
  position(1),
  position(2, { item: 2, variation: 21 }),
  position(3, { canceled: true }),
  position(4, { orderStatus: "pending" }),
  position(5, { orderStatus: "expired" }),
];
const scans = [
  scan(1, 1),
  scan(2, 1, { type: "exit" }),
  scan(3, 2),
  scan(4, 2, { successful: false }),
  scan(5, 3),
  scan(6, 4),
  scan(7, 1, { list: 2 }),
];
const shown: ShownStatus = {
  position_count: 2,
  checkin_count: 2,
  inside_count: 1,
  items: [
    { id: 1, position_count: 1, checkin_count: 1, variations: [] },
    {
      id: 2,
      position_count: 1,
      checkin_count: 1,
      variations: [{ id: 21, position_count: 1, checkin_count: 1 }],
    },
  ],
};
const list = { id: 1, includePending: false };

it("a status that a recount confirms has no differences", () => {
  expect(checkCounts({ list, shown, positions, scans })).toEqual([]);
});

it("pending orders count if the list includes them", () => {
  const found = checkCounts({ list: { ...list, includePending: true }, shown, positions, scans });
  expect(found).toContain("list 1 shows position_count 2, a recount gives 3");
  expect(found).toContain("list 1 shows inside_count 1, a recount gives 2");
});

it.each<[string, Partial<ShownStatus>]>([
  ["position_count", { position_count: 3 }],
  ["checkin_count", { checkin_count: 1 }],
  ["inside_count", { inside_count: 2 }],
  ["item 1 checkin_count", { items: [{ id: 1, position_count: 1, checkin_count: 0, variations: [] }] }],
])("a wrong %s is found", (what, changes) => {
  const found = checkCounts({ list, shown: { ...shown, ...changes }, positions, scans });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(what);
});

import { expect, it } from "vitest";
import { StoredCells } from "./stored-cells.ts";

const now = 1_800_000_007;
const opened = () => new StoredCells<{ storedIn: number; scans: number }>({ readsBack: 900, keeps: 65, width: 10 });

it("[B1.6] is read whole at first, and then what was stored since, with what was unsettled, from the beginning of a cell", () => {
  const cells = opened();
  expect(cells.readFrom(now)).toBe(1_799_999_100);
  cells.take(now, { from: cells.readFrom(now), cells: [] });
  expect(cells.readFrom(now + 1)).toBe(1_800_000_000);
  // A clock that was set back.
  expect(cells.readFrom(now - 100)).toBe(1_799_999_900);
});

it("[B1.2] replaces what it reads again, and forgets what is old", () => {
  const cells = opened();
  const [old, last] = [1_799_999_950, 1_800_000_000];
  cells.take(now, { from: old, cells: [old, last].map((storedIn) => ({ storedIn, scans: 1 })) });
  cells.take(now + 5, { from: last, cells: [{ storedIn: last, scans: 3 }] });
  expect(cells.cells).toEqual([
    { storedIn: old, scans: 1 },
    { storedIn: last, scans: 3 },
  ]);
  cells.take(now + 50, { from: last + 40, cells: [] });
  expect(cells.cells).toEqual([{ storedIn: last, scans: 3 }]);
});

it("[B1.6] gives up a long past that cannot be read, and nothing that a failure of a moment leaves", () => {
  const cells = opened();
  cells.giveUpPast(now);
  expect(cells.readFrom(now)).toBe(1_799_999_940);
  cells.take(now, { from: 0, cells: [] });
  cells.giveUpPast(now + 30);
  expect(cells.readFrom(now + 30)).toBe(1_800_000_000);
});

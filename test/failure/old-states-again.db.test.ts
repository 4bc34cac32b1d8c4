import { topics } from "@tessera/protos/topics";
import type { TestDatabase } from "@tessera/testkit/database";
import { array, assert, asyncProperty, boolean, constant, constantFrom, integer, oneof, record } from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { all, importedId, type Places, startPlaces } from "./places-left.ts";
import type { SentRecord } from "./send-records.ts";
import { createDatabase } from "./voucher-and-boxoffice.ts";

let database: TestDatabase;
let parts: Places;

beforeAll(async () => {
  database = await createDatabase();
  parts = await startPlaces(database);
});
beforeEach(() => parts.empty());
afterAll(() => database?.drop());

const otherId = importedId + 1;
const placed = "2026-01-10T10:00:00Z";

/** What a shop says of an order at a moment. */
interface Said {
  readonly status: string;
  /** The voucher of its second position; null: of none. Undefined: the order is without that position. */
  readonly voucher: number | null | undefined;
}

/** The moments at which a shop changed the order. */
const changedAt = (index: number) => `2026-02-0${index + 1}T10:00:00Z`;

function orderOf({ status, voucher }: Said, index: number): SentRecord {
  const position = (id: number, more: object = {}) => ({
    ...{ id, positionid: id, item: 1, price: "10.00", secret: `secret-${id}`, ...more },
  });
  const positions = voucher === undefined ? [position(1)] : [position(1), position(2, { voucher })];
  const data = { code: "O1", status, datetime: placed, last_modified: changedAt(index), positions };
  return { kind: "order", data };
}

const removal = (index: number): SentRecord => ({
  kind: "order",
  data: { code: "O1", last_modified: changedAt(index) },
  deleted: true,
});

const redeemed = 5;
const voucherOf = (id: number, as_of: Date): SentRecord => ({
  kind: "voucher",
  data: { id, code: `CODE${id}`, max_usages: 20, block_quota: true, item: 1, redeemed, as_of },
});

it.each([
  ["a use that has ended", "p", "c"],
  ["a use that has begun", "c", "p"],
])("[V6.12] an old state that comes again counts until the newest comes again: %s", async (_name, before, now) => {
  const [old, newest] = [before, now].map((status, index) => orderOf({ status, voucher: importedId }, index));
  if (old === undefined || newest === undefined) throw new Error("there are two");
  await parts.send("boxoffice", old);
  await parts.send("boxoffice", newest);
  await parts.send("voucher", voucherOf(importedId, new Date()));
  await parts.pass(topics.voucherChanged, all);
  const counts = async () => {
    await parts.passAll();
    return [await parts.redeemed(), await parts.usedInLedger()];
  };
  const twice = (used: number) => Array(2).fill([{ id: importedId, used }]);
  expect(await counts()).toEqual(twice(redeemed));
  await parts.send("boxoffice", old);
  expect(await counts()).toEqual(twice(before === "p" ? redeemed + 1 : redeemed - 1));
  // The shop knows no old state.
  await parts.send("voucher", voucherOf(importedId, new Date()));
  await parts.send("boxoffice", newest);
  expect(await counts()).toEqual(twice(redeemed));
});

const state = record({
  status: constantFrom("p", "p", "c"),
  voucher: constantFrom(importedId, importedId, importedId, otherId, null, undefined),
});

const step = oneof(
  { weight: 4, arbitrary: record({ kind: constant("state" as const), place: integer({ min: 0, max: 4 }) }) },
  {
    weight: 3,
    arbitrary: record({
      kind: constant("record" as const),
      id: constantFrom(importedId, importedId, otherId),
      // Of the past, or of this moment.
      behind: constantFrom(0, 1, 2, 9, 9, 9),
    }),
  },
  { weight: 2, arbitrary: constant({ kind: "facts" as const }) },
);

it("[V6.1, V6.6, V6.12] vouchers and their places count what the newest states say, whatever old ones come again before", async () => {
  let used = 0;
  await assert(
    asyncProperty(
      array(state, { minLength: 2, maxLength: 4, size: "max" }),
      boolean(),
      array(step, { minLength: 5, maxLength: 12, size: "max" }),
      async (states, isRemoved, steps) => {
        await parts.empty();
        const history = states.map(orderOf);
        if (isRemoved) history.push(removal(states.length));
        for (const each of history) await parts.send("boxoffice", each);
        const records = new Map<number, Date>();
        for (const each of steps) {
          if (each.kind === "facts") await parts.passAll();
          else if (each.kind === "state") {
            const again = history[each.place % history.length];
            if (again !== undefined) await parts.send("boxoffice", again);
          } else {
            const { id, behind } = each;
            const asOf = behind > 3 ? new Date() : new Date(Date.parse(changedAt(0)) + (behind + 0.5) * 86_400_000);
            // What ended a day before the last record is forgotten.
            if (asOf < (records.get(id) ?? asOf)) continue;
            records.set(id, asOf);
            await parts.send("voucher", voucherOf(id, asOf));
          }
        }
        await parts.send("boxoffice", ...history.slice(-1));
        await parts.passAll();
        await parts.passAll();
        const usesOf = (id: number, moment: number) => {
          const known = history.findLastIndex((_, index) => index === 0 || Date.parse(changedAt(index)) < moment);
          const said = states[known];
          return said?.status === "p" && said.voucher === id && moment > Date.parse(placed) ? 1 : 0;
        };
        const expected = Array.from(records, ([id, asOf]) => {
          const [now, then] = [usesOf(id, Date.now()), usesOf(id, asOf.getTime())];
          used += now + then;
          return { id, used: redeemed + now - then };
        }).toSorted((one, other) => one.id - other.id);
        expect([await parts.redeemed(), await parts.usedInLedger()]).toEqual([expected, expected]);
      },
    ),
    { numRuns: 40 },
  );
  expect(used).toBeGreaterThan(0);
});

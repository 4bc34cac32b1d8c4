import { randomUUID } from "node:crypto";
import { topics } from "@tessera/protos/topics";
import type { TestDatabase } from "@tessera/testkit/database";
import { array, assert, asyncProperty, boolean, constant, integer, oneof, record } from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  all,
  dateOf,
  earliest,
  importedId,
  isDone,
  longBefore,
  type Places,
  size,
  startPlaces,
  zero,
} from "./places-left.ts";
import { place } from "./send-records.ts";
import { createDatabase } from "./voucher-and-boxoffice.ts";

let database: TestDatabase;
let parts: Places;

beforeAll(async () => {
  database = await createDatabase();
  parts = await startPlaces(database);
});
afterAll(() => database?.drop());

interface Known {
  readonly id: number;
  max: number;
  blocks: boolean;
  /** How often it was used, by its last record, and the moment of that. */
  recorded: number;
  asOf: number;
  isNamed: boolean;
}

interface Use {
  readonly at: number;
  readonly voucher: Known | undefined;
  readonly isOpen: boolean;
  readonly isRemoved: boolean;
}

const at = integer({ min: 0, max: 5 });
const recorded = record({
  kind: constant("record" as const),
  redeemed: integer({ min: 0, max: 2 }),
  isOld: boolean(),
  isBehind: boolean(),
});
const steps = oneof(
  {
    weight: 3,
    arbitrary: record({
      kind: constant("create" as const),
      uses: array(integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 7,
    arbitrary: record({
      kind: constant("order" as const),
      position: integer({ min: 1, max: 5 }),
      voucher: at,
      isOpen: boolean(),
      isOld: boolean(),
    }),
  },
  { weight: 2, arbitrary: record({ kind: constant("removal" as const), position: integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: record({ kind: constant("raise" as const), voucher: at, by: integer({ min: 1, max: 2 }) }) },
  { weight: 2, arbitrary: record({ kind: constant("lower" as const), voucher: at }) },
  { weight: 3, arbitrary: record({ kind: constant("toggle" as const), voucher: at }) },
  { weight: 2, arbitrary: record({ kind: constant("delete" as const), voucher: at }) },
  { weight: 1, arbitrary: record({ kind: constant("sell" as const), amount: integer({ min: 1, max: 3 }) }) },
  { weight: 3, arbitrary: recorded },
  { weight: 1, arbitrary: record({ kind: constant("uses" as const), limit: integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: record({ kind: constant("facts" as const), limit: integer({ min: 1, max: 3 }) }) },
);
type Step = typeof steps extends import("fast-check").Arbitrary<infer T> ? T : never;

/** The same event as a list, in which everything happens at one moment. */
class Model {
  readonly vouchers: Known[] = [];
  /** What each position was from which moment on; removed ones included. */
  readonly histories = new Map<number, Use[]>();
  sold = 0;
  now = earliest;

  at(index: number): Known | undefined {
    return this.vouchers[index % Math.max(1, this.vouchers.length)];
  }

  isThere(position: number): boolean {
    return this.histories.get(position)?.at(-1)?.isRemoved === false;
  }

  /** A position that is new here has been what it is since its order was placed. */
  order(position: number, use: Omit<Use, "at" | "isRemoved">, { isOld }: { readonly isOld: boolean }): void {
    const history = this.histories.get(position) ?? [];
    const isKnown = this.isThere(position) || history.some(({ voucher }) => voucher?.id === importedId);
    const at = isOld && !isKnown ? longBefore : this.now;
    this.histories.set(position, [...(isKnown ? history : []), { ...use, at, isRemoved: false }]);
  }

  remove(position: number): void {
    this.histories.get(position)?.push({ at: this.now, voucher: undefined, isOpen: false, isRemoved: true });
  }

  usesOf(voucher: Known, before = Number.POSITIVE_INFINITY): number {
    const uses = [...this.histories.values()].map((history) => history.findLast(({ at }) => at < before));
    return uses.filter((use) => use?.isOpen && use.voucher === voucher).length;
  }

  redeemedOf(voucher: Known): number {
    return Math.max(0, voucher.recorded + this.usesOf(voucher) - this.usesOf(voucher, voucher.asOf));
  }

  takenBy(voucher: Known): number {
    return this.takenWith(voucher, {});
  }

  takenWith(voucher: Known, change: Partial<Known>): number {
    const { blocks, max } = { ...voucher, ...change };
    return blocks ? Math.max(0, max - this.redeemedOf(voucher)) : 0;
  }

  get left(): number {
    const open = [...this.histories.values()].filter((history) => history.at(-1)?.isOpen).length;
    return size - this.sold - open - this.vouchers.reduce((sum, voucher) => sum + this.takenBy(voucher), 0);
  }

  /** What a change takes more than before: more than is left is refused. */
  changes(voucher: Known, change: Partial<Known>): boolean {
    const more = this.takenWith(voucher, change) - this.takenBy(voucher);
    if (more > 0 && more > this.left) return false;
    Object.assign(voucher, change);
    return true;
  }
}

async function take(model: Model, step: Step, seen: { done: number; refused: number }): Promise<void> {
  model.now += 1;
  const note = (known: { readonly isDone: boolean | undefined; readonly isPossible: boolean }) => {
    expect(known.isDone).toBe(known.isPossible);
    seen[known.isPossible ? "done" : "refused"] += 1;
  };
  const voucher = "voucher" in step ? model.at(step.voucher) : undefined;
  if (step.kind === "uses") await parts.pass(topics.voucherUseChanged, step);
  else if (step.kind === "facts") await parts.pass(topics.voucherChanged, step);
  else if (step.kind === "create") {
    const sent = step.uses.map((maxUsages) => ({
      fields: { ...zero, maxUsages },
      sent: ["item", "max_usages", "block_quota"],
    }));
    const isPossible = step.uses.reduce((sum, uses) => sum + uses, 0) <= model.left;
    const creating = parts.vouchers.createVouchers({ ...place, vouchers: sent });
    note({ isDone: await isDone(creating), isPossible });
    if (!isPossible) return;
    for (const [index, { id }] of (await creating).vouchers.entries())
      model.vouchers.push({
        id,
        max: step.uses[index] ?? 0,
        blocks: true,
        recorded: 0,
        asOf: longBefore,
        isNamed: false,
      });
  } else if (step.kind === "order") {
    // Every sixth names none.
    const named = step.voucher === 5 ? undefined : voucher;
    const { position: id, isOpen, isOld } = step;
    const position = { id, positionid: 1, item: 1, price: "10.00", secret: `secret-${id}`, voucher: named?.id ?? null };
    const status = isOpen ? "p" : "c";
    await parts.send("boxoffice", {
      kind: "order",
      data: { code: `O${id}`, status, datetime: isOld ? dateOf[longBefore] : new Date(), positions: [position] },
    });
    model.order(id, { voucher: named, isOpen }, { isOld });
    if (named !== undefined) named.isNamed = true;
  } else if (step.kind === "removal") {
    if (!model.isThere(step.position)) return;
    model.remove(step.position);
    await parts.send("boxoffice", { kind: "order", data: { code: `O${step.position}` }, deleted: true });
  } else if (step.kind === "sell") {
    const sale = { ...place, sale: randomUUID(), item: 1, salesChannel: "web", testmode: false, onlyCheck: false };
    const { problems } = await parts.sales.sellTickets({ ...sale, amount: step.amount });
    expect(problems.length === 0, JSON.stringify(problems)).toBe(step.amount <= model.left);
    if (problems.length === 0) model.sold += step.amount;
  } else if (step.kind === "record") {
    // Boxoffice must know of a record before it can count with it; voucher may still be behind with the uses.
    if (!step.isBehind) await parts.pass(topics.voucherUseChanged, all);
    await parts.pass(topics.voucherChanged, all);
    const known: Known = model.vouchers.find(({ id }) => id === importedId) ?? {
      id: importedId,
      max: 3,
      blocks: true,
      recorded: -1,
      asOf: longBefore,
      isNamed: false,
    };
    const asOf = step.isOld ? earliest : model.now;
    const redeemed = model.usesOf(known, asOf) + step.redeemed;
    const moment = step.isOld ? { as_of: dateOf[earliest] } : {};
    const data = { id: importedId, code: "IMPORTED", max_usages: 3, block_quota: true, item: 1, redeemed, ...moment };
    await parts.send("voucher", { kind: "voucher", data });
    await parts.pass(topics.voucherChanged, all);
    // A record that says the same of its uses as the last one, and of no other moment, leaves them as they are.
    const isSame = known.recorded === redeemed && !step.isOld;
    Object.assign(known, { max: 3, blocks: true, recorded: redeemed, asOf: isSame ? known.asOf : asOf });
    if (!model.vouchers.includes(known)) model.vouchers.push(known);
  } else if (voucher === undefined) return;
  else if (step.kind === "raise") {
    const max = voucher.max + step.by;
    const done = await isDone(parts.update(voucher.id, { maxUsages: max }, "max_usages"));
    if (done !== undefined) note({ isDone: done, isPossible: model.changes(voucher, { max }) });
  } else if (step.kind === "toggle") {
    const blocks = !voucher.blocks;
    const done = await isDone(parts.update(voucher.id, { blockQuota: blocks }, "block_quota"));
    if (done !== undefined) note({ isDone: done, isPossible: model.changes(voucher, { blocks }) });
  } else if (!voucher.isNamed && voucher.recorded === 0) {
    // What was used may be known to voucher only later, so it is neither lowered nor deleted.
    if (step.kind === "delete") {
      await parts.vouchers.deleteVoucher({ ...place, id: voucher.id });
      model.vouchers.splice(model.vouchers.indexOf(voucher), 1);
    } else {
      voucher.max = 1;
      await parts.update(voucher.id, { maxUsages: 1 }, "max_usages");
    }
  }
}

it("[V4.10, V4.18, V4.19] every request finds the room that a list of vouchers and positions has, whatever has not arrived yet", async () => {
  const seen = { done: 0, refused: 0 };
  await assert(
    asyncProperty(recorded, array(steps, { minLength: 10, maxLength: 40, size: "max" }), async (first, run) => {
      await parts.empty();
      const model = new Model();
      for (const step of [first, ...run]) await take(model, step, seen);
      expect(await parts.countLeft()).toBe(Math.max(0, model.left));
      await parts.passAll();
      expect(await parts.countLeft()).toBe(Math.max(0, model.left));
      await parts.passAll();
      expect(await parts.usedInLedger()).toEqual(await parts.redeemed());
    }),
    { numRuns: 40 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(3);
});

import { randomUUID } from "node:crypto";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Client } from "@tessera/kit/rpc";
import type { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Sales } from "@tessera/protos/services";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import type { TestDatabase } from "@tessera/testkit/database";
import { array, assert, asyncProperty, boolean, constant, integer, oneof, record } from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Both,
  blocking,
  createDatabase,
  place,
  prepareEvent,
  type SentRecord,
  sendRecords,
  startBoth,
} from "./voucher-and-boxoffice.ts";

const size = 7;

let database: TestDatabase;
let parts: Both & { readonly sales: Client<Sales> };

beforeAll(async () => {
  database = await createDatabase();
  const both = await startBoth(database);
  parts = { ...both, sales: both.boxoffice.connect(Sales) };
});
afterAll(() => database?.drop());

const send = (owner: "boxoffice" | "voucher", ...sent: SentRecord[]) => sendRecords(parts, owner, ...sent);

/** Takes the next facts of a topic, in their order, and delivers each as one that waited. */
async function pass<F>(topic: Topic<F>, { limit }: { readonly limit: number }): Promise<void> {
  const isOfVoucher = topic.name === topics.voucherChanged.name;
  const from: Queryable = isOfVoucher ? parts.dbs.voucher : parts.dbs.boxoffice;
  const to = isOfVoucher ? parts.boxoffice : parts.voucher;
  const rows = await from.many<{
    id: number;
    key: string;
    payload: Buffer | null;
    revision: number | null;
    at: number;
  }>(sql`
    delete from outbox
     where outbox.id in (select waiting.id from outbox as waiting where waiting.topic = ${topic.name} order by waiting.id limit ${limit})
       and outbox.topic = ${topic.name}
    returning outbox.id, outbox.key, outbox.payload, (outbox.headers ->> 'revision')::bigint as revision, outbox.created_at as at`);
  for (const { key, payload, revision, at } of rows.toSorted((one, other) => one.id - other.id)) {
    const deletion = revision === null ? {} : { deletedAt: revision };
    await to.deliver(topic, [payload === null ? key : topic.decode(payload)], { ...deletion, at });
  }
}

const all = { limit: 10_000 };

async function passAll(): Promise<void> {
  // A state that voucher counts is told to boxoffice.
  await pass(topics.voucherUseChanged, all);
  await pass(topics.voucherChanged, all);
}

const zero: VoucherFields = { ...blocking, item: 1 };

interface Known {
  readonly id: number;
  max: number;
  blocks: boolean;
  /** What its record says beside what it contains. */
  base: number;
  /** How often it was used, by its last record. */
  recorded?: number;
  isNamed: boolean;
}

const at = integer({ min: 0, max: 5 });
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
    }),
  },
  { weight: 2, arbitrary: record({ kind: constant("removal" as const), position: integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: record({ kind: constant("raise" as const), voucher: at, by: integer({ min: 1, max: 2 }) }) },
  { weight: 2, arbitrary: record({ kind: constant("lower" as const), voucher: at }) },
  { weight: 3, arbitrary: record({ kind: constant("toggle" as const), voucher: at }) },
  { weight: 2, arbitrary: record({ kind: constant("delete" as const), voucher: at }) },
  { weight: 1, arbitrary: record({ kind: constant("sell" as const), amount: integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: record({ kind: constant("record" as const), redeemed: integer({ min: 0, max: 2 }) }) },
  { weight: 1, arbitrary: record({ kind: constant("uses" as const), limit: integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: record({ kind: constant("facts" as const), limit: integer({ min: 1, max: 3 }) }) },
);
type Step = typeof steps extends import("fast-check").Arbitrary<infer T> ? T : never;

/** The same event as a list, in which everything happens at one moment. */
class Model {
  readonly vouchers: Known[] = [];
  readonly positions = new Map<number, { voucher: Known | undefined; isOpen: boolean }>();
  sold = 0;

  at(index: number): Known | undefined {
    return this.vouchers[index % Math.max(1, this.vouchers.length)];
  }

  usesOf(voucher: Known): number {
    return [...this.positions.values()].filter((position) => position.isOpen && position.voucher === voucher).length;
  }

  takenBy(voucher: Known): number {
    return voucher.blocks ? Math.max(0, voucher.max - Math.max(0, voucher.base + this.usesOf(voucher))) : 0;
  }

  get left(): number {
    const open = [...this.positions.values()].filter(({ isOpen }) => isOpen).length;
    return size - this.sold - open - this.vouchers.reduce((sum, voucher) => sum + this.takenBy(voucher), 0);
  }

  /** What a change takes more than before: more than is left is refused. */
  changes(voucher: Known, change: Partial<Known>): boolean {
    const before = this.takenBy(voucher);
    const more = this.takenBy({ ...voucher, ...change, base: voucher.base + this.usesOf(voucher) }) - before;
    if (more > 0 && more > this.left) return false;
    Object.assign(voucher, change);
    return true;
  }
}

/** Whether a request was not refused for lack of room; undefined: its voucher is used more often than it may be. */
async function isDone(request: Promise<unknown>): Promise<boolean | undefined> {
  try {
    await request;
    return true;
  } catch (error) {
    const said = JSON.stringify((error as { fields?: object }).fields);
    if (said.includes("cannot be less than that")) return undefined;
    expect(said).toContain("not enough left");
    return false;
  }
}

const update = (id: number, fields: Partial<VoucherFields>, ...updateMask: string[]) =>
  parts.vouchers.updateVoucher({ ...place, id, fields: { ...zero, ...fields }, updateMask });

async function take(model: Model, step: Step, seen: { done: number; refused: number }): Promise<void> {
  const note = (isPossible: boolean | undefined, expected: boolean) => {
    expect(isPossible).toBe(expected);
    seen[expected ? "done" : "refused"] += 1;
  };
  const voucher = "voucher" in step ? model.at(step.voucher) : undefined;
  if (step.kind === "uses") await pass(topics.voucherUseChanged, step);
  else if (step.kind === "facts") await pass(topics.voucherChanged, step);
  else if (step.kind === "create") {
    const sent = step.uses.map((maxUsages) => ({
      fields: { ...zero, maxUsages },
      sent: ["item", "max_usages", "block_quota"],
    }));
    const isPossible = step.uses.reduce((sum, uses) => sum + uses, 0) <= model.left;
    const creating = parts.vouchers.createVouchers({ ...place, vouchers: sent });
    note(await isDone(creating), isPossible);
    if (!isPossible) return;
    for (const [index, { id }] of (await creating).vouchers.entries())
      model.vouchers.push({ id, max: step.uses[index] ?? 0, blocks: true, base: 0, isNamed: false });
  } else if (step.kind === "order") {
    // Every sixth names none.
    const named = step.voucher === 5 ? undefined : voucher;
    const { position: id, isOpen } = step;
    const position = { id, positionid: 1, item: 1, price: "10.00", secret: `secret-${id}`, voucher: named?.id ?? null };
    const status = isOpen ? "p" : "c";
    await send("boxoffice", {
      kind: "order",
      data: { code: `O${id}`, status, datetime: new Date(), positions: [position] },
    });
    model.positions.set(id, { voucher: named, isOpen });
    if (named !== undefined) named.isNamed = true;
  } else if (step.kind === "removal") {
    if (!model.positions.delete(step.position)) return;
    await send("boxoffice", { kind: "order", data: { code: `O${step.position}` }, deleted: true });
  } else if (step.kind === "sell") {
    const sale = { ...place, sale: randomUUID(), item: 1, salesChannel: "web", testmode: false, onlyCheck: false };
    const { problems } = await parts.sales.sellTickets({ ...sale, amount: step.amount });
    expect(problems.length === 0, JSON.stringify(problems)).toBe(step.amount <= model.left);
    if (problems.length === 0) model.sold += step.amount;
  } else if (step.kind === "record") {
    // An import waits until voucher has read what boxoffice has told, and boxoffice what voucher has.
    await passAll();
    const known: Known = model.vouchers.find(({ id }) => id === 7) ?? {
      id: 7,
      max: 3,
      blocks: true,
      base: 0,
      isNamed: false,
    };
    const uses = model.usesOf(known);
    const redeemed = uses + step.redeemed;
    const data = { id: 7, code: "IMPORTED", max_usages: 3, block_quota: true, item: 1, redeemed };
    await send("voucher", { kind: "voucher", data });
    await pass(topics.voucherChanged, all);
    // A record that says the same of its uses as the last one leaves them as they are.
    const base = known.recorded === redeemed ? known.base : step.redeemed;
    Object.assign(known, { max: 3, blocks: true, base, recorded: redeemed });
    if (!model.vouchers.includes(known)) model.vouchers.push(known);
  } else if (voucher === undefined) return;
  else if (step.kind === "raise") {
    const max = voucher.max + step.by;
    const isPossible = await isDone(update(voucher.id, { maxUsages: max }, "max_usages"));
    if (isPossible !== undefined) note(isPossible, model.changes(voucher, { max }));
  } else if (step.kind === "toggle") {
    const blocks = !voucher.blocks;
    const isPossible = await isDone(update(voucher.id, { blockQuota: blocks }, "block_quota"));
    if (isPossible !== undefined) note(isPossible, model.changes(voucher, { blocks }));
  } else if (!voucher.isNamed && voucher.base === 0) {
    // What was used may be known to voucher only later, so it is neither lowered nor deleted.
    if (step.kind === "delete") {
      await parts.vouchers.deleteVoucher({ ...place, id: voucher.id });
      model.vouchers.splice(model.vouchers.indexOf(voucher), 1);
    } else {
      voucher.max = 1;
      await update(voucher.id, { maxUsages: 1 }, "max_usages");
    }
  }
}

/** Expects that new vouchers can take so much, and not more. */
async function expectLeft(left: number): Promise<void> {
  const creating = (maxUsages: number) => {
    const vouchers = [{ fields: { ...zero, maxUsages }, sent: ["item", "max_usages", "block_quota"] }];
    return parts.vouchers.createVouchers({ ...place, vouchers });
  };
  expect(await isDone(creating(left + 1))).toBe(false);
  if (left === 0) return;
  const id = (await creating(left)).vouchers[0]?.id ?? 0;
  await parts.vouchers.deleteVoucher({ ...place, id });
}

it("[V4.10, V4.18, V4.19] every request finds the room that a list of vouchers and positions has, whatever has not arrived yet", async () => {
  const seen = { done: 0, refused: 0 };
  await assert(
    asyncProperty(array(steps, { minLength: 10, maxLength: 40, size: "max" }), async (run) => {
      await prepareEvent(parts, [{ id: 1, size, items: [1] }]);
      const model = new Model();
      for (const step of run) await take(model, step, seen);
      await expectLeft(Math.max(0, model.left));
      await passAll();
      await expectLeft(Math.max(0, model.left));
    }),
    { numRuns: 12 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(3);
});

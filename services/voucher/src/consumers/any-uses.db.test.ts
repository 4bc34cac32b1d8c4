import { sql } from "@tessera/kit/pg/sql";
import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { topics } from "@tessera/protos/topics";
import { array, assert, asyncProperty, boolean, constant, constantFrom, integer, oneof, record } from "fast-check";
import { expect, it } from "vitest";
import { countedRows, recountedRows } from "../store/recounted-vouchers.ts";
import { voucherDatabase } from "../testing/database.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
const ids = [7, 8];
const start = Date.UTC(2026, 0, 1) * 1000;
const second = 1_000_000;

const steps = oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: constant("state" as const),
      position: integer({ min: 1, max: 3 }),
      voucher: constantFrom(7, 8, null),
      counts: boolean(),
      budget: integer({ min: 0, max: 2 }),
      back: oneof({ weight: 3, arbitrary: constant(0) }, integer({ min: 1, max: 8 })),
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      kind: constant("removal" as const),
      position: integer({ min: 1, max: 3 }),
      back: constantFrom(0, 0, 3),
    }),
  },
  { weight: 5, arbitrary: record({ kind: constant("delivery" as const), facts: integer({ min: 1, max: 4 }) }) },
  {
    weight: 3,
    arbitrary: record({
      kind: constant("record" as const),
      voucher: constantFrom(...ids),
      back: integer({ min: 0, max: 8 }),
      more: integer({ min: 0, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: record({ kind: constant("deletion" as const), voucher: constantFrom(...ids) }) },
  { weight: 1, arbitrary: constant({ kind: "repetition" as const }) },
  { weight: 1, arbitrary: constant({ kind: "rebuild" as const }) },
);

/** The use of a position from a moment on; null: it uses no voucher. */
interface Taking {
  readonly at: number;
  readonly taken: { readonly voucher: number; readonly counts: boolean; readonly budget: number } | null;
}

type Message =
  | { readonly fact: VoucherUseChanged | string; readonly at: number; readonly deletedAt?: number }
  | { readonly sweepBefore: number };

type Taken = Taking["taken"];

/** A simulated boxoffice that publishes its positions, and a shop that knows each voucher's uses at each moment. */
class World {
  time = 1;
  revision = 1;
  readonly queue: Message[] = [];
  readonly records = new Map<number, { readonly asOf: number; readonly redeemed: number; readonly budget: number }>();
  readonly #history = new Map<number, Taking[]>();
  readonly #told = new Map<number, VoucherUseChanged>();

  /** Changes a position, now or since an earlier moment: what was told of it behind that moment was not so. */
  change(position: number, taken: Taken, back = 0): void {
    this.time += 1;
    const history = this.#history.get(position) ?? [];
    const before = history.at(-1)?.taken ?? null;
    const isNew = history.length === 0;
    const isSame = !isNew && JSON.stringify(before) === JSON.stringify(taken);
    const isBack = !isNew && back > 0;
    // No two changes are of one moment.
    const from = isBack ? Math.max(0, this.time - back) + this.time / 1000 : this.time;
    if (isBack) this.#history.set(position, [...history.filter(({ at }) => at < from), { at: from, taken }]);
    else if (!isSame) this.#history.set(position, [...history, { at: from, taken }]);
    const [at, since] = [start + this.time * second, start + Math.round(from * second)];
    if (taken === null) {
      if (before !== null || isBack)
        this.queue.push({ fact: `${place.organizer}/${place.event}/${position}`, at, deletedAt: since });
      this.#told.delete(position);
      return;
    }
    this.revision += 1;
    const told = this.#told.get(position);
    const fact: VoucherUseChanged = {
      ...place,
      id: position,
      revision: this.revision,
      voucher: taken.voucher,
      canceled: !taken.counts,
      budgetUse: `${taken.budget}.00`,
      orderStatus: OrderStatus.PAID,
      since: isSame && !isBack && told ? told.since : since,
    };
    this.#told.set(position, fact);
    this.queue.push({ fact, at });
  }

  remove(position: number, back: number): void {
    if (this.#history.get(position)?.at(-1)?.taken == null) return;
    this.change(position, null, back);
  }

  /** Publishes everything again, and lets the sweep delete the rest. */
  rebuild(): void {
    this.revision += 1;
    const sweepBefore = this.revision;
    for (const [position, fact] of this.#told) {
      this.revision += 1;
      this.#told.set(position, { ...fact, revision: this.revision });
    }
    const at = start + this.time * second;
    this.queue.push(...[...this.#told.values()].map((fact) => ({ fact, at })), { sweepBefore });
  }

  sumBefore(voucher: number, moment: number): { readonly redeemed: number; readonly budget: number } {
    const taken = [...this.#history.values()].map((history) => history.findLast(({ at }) => at < moment)?.taken);
    return sum(voucher, taken);
  }

  expected(voucher: number): [number, string] | undefined {
    const known = this.records.get(voucher);
    if (known === undefined) return undefined;
    const then = this.sumBefore(voucher, known.asOf);
    const now = sum(
      voucher,
      [...this.#history.values()].map((history) => history.at(-1)?.taken),
    );
    // A record that said less than its moment turned out to have is not counted below zero.
    const [redeemed, budget] = [known.redeemed + now.redeemed - then.redeemed, known.budget + now.budget - then.budget];
    return [Math.max(0, redeemed), `${Math.max(0, budget)}.00`];
  }
}

function sum(voucher: number, all: readonly (Taken | undefined)[]) {
  const counted = all.filter((taken) => taken != null && taken.voucher === voucher && taken.counts);
  return { redeemed: counted.length, budget: counted.reduce((total, taken) => total + (taken?.budget ?? 0), 0) };
}

async function send(data: { readonly id: number }, { deleted = false } = {}): Promise<void> {
  const record = { line: 1, kind: "voucher", ...place, deleted, data: Buffer.from(JSON.stringify(data)) };
  expect((await service.records.applyRecords({ records: [record] })).rejected).toEqual([]);
}

async function deliver(messages: readonly Message[]): Promise<void> {
  for (const message of messages) {
    if ("sweepBefore" in message) await service.sweep(topics.voucherUseChanged, message.sweepBefore);
    else {
      const { fact, at, deletedAt } = message;
      await service.deliver(topics.voucherUseChanged, [fact], {
        at,
        ...(deletedAt === undefined ? {} : { deletedAt }),
      });
    }
  }
}

const countOf = async (id: number) => {
  const { voucher } = await service.vouchers.getVoucher({ ...place, id });
  return [voucher?.redeemed, voucher?.budgetUsed];
};

it("[V6.3, V6.4, V6.6, V6.7, V6.9, V6.12] vouchers count what they were used for since their record, in whatever order records and uses come", async () => {
  const seen = { compared: 0, moved: 0 };
  await assert(
    asyncProperty(array(steps, { minLength: 5, maxLength: 40, size: "max" }), async (run) => {
      await service.reset();
      await service.prepareEvent();
      const world = new World();
      let last: readonly Message[] = [];
      for (const step of run) {
        if (step.kind === "state") {
          const { position, voucher, counts, budget, back } = step;
          world.change(position, voucher === null ? null : { voucher, counts, budget: counts ? budget : 0 }, back);
        } else if (step.kind === "removal") world.remove(step.position, step.back);
        else if (step.kind === "delivery") {
          last = world.queue.splice(0, step.facts);
          await deliver(last);
        } else if (step.kind === "repetition") await deliver(last.slice(last.findLastIndex(deletes) + 1));
        else if (step.kind === "rebuild") world.rebuild();
        else if (step.kind === "deletion") {
          if (world.records.delete(step.voucher)) await send({ id: step.voucher }, { deleted: true });
        } else {
          const { voucher: id, more } = step;
          const asOf = Math.max(1, world.time + 1 - step.back);
          const said = world.sumBefore(id, asOf);
          const [redeemed, budget] = [said.redeemed + more, said.budget + more];
          world.records.set(id, { asOf, redeemed, budget });
          const counted = { redeemed, budget_used: `${budget}.00`, as_of: new Date((start + asOf * second) / 1000) };
          await send({ id, code: `CODE${id}`, max_usages: 20, ...counted } as { id: number });
        }
      }
      await deliver(world.queue.splice(0));
      for (const id of ids) {
        const expected = world.expected(id);
        if (expected === undefined) continue;
        expect(await countOf(id)).toEqual(expected);
        seen.compared += 1;
        if (expected[0] !== world.records.get(id)?.redeemed) seen.moved += 1;
      }
      const [counted, recounted] = [await service.db.many(countedRows), await service.db.many(recountedRows)];
      expect(counted).toEqual(recounted);
      const published = sql`select count(*) as count from outbox`;
      const before = await service.db.one(published);
      world.rebuild();
      await deliver(world.queue.splice(0));
      expect(await service.db.one(published)).toEqual(before);
    }),
    { numRuns: 60 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
});

/** A state from before a deletion never comes after it: facts are known by their ids. */
function deletes(message: Message): boolean {
  return !("fact" in message) || typeof message.fact === "string";
}

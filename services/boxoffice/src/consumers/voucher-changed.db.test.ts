import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { NeedProblemKind, type VoucherNeed } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { emptyTables } from "@tessera/testkit/empty-tables";
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  oneof,
  record,
  uniqueArray,
} from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { matchQuotas, sumByQuota } from "../domain/voucher-claims.ts";
import { readQuotas } from "../store/capacity.ts";
import { readLedger } from "../store/voucher-claim-rows.ts";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { festival, position, sample } from "../testing/records.ts";
import { farAway, longAgo, need, startLedger, voucher } from "../testing/vouchers.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const ledger = await startLedger(db);

const seats = ["stalls-1-1", "stalls-1-2"];
const scope = { organizer: "org", event: "fest" };

/** Three quotas of two products; one is unlimited, and two positions are sold. */
async function openShop(): Promise<void> {
  await emptyTables(db);
  const variations = [21, 22].map((id) => ({ id, value: {} }));
  const rejected = await office.apply(
    ...festival,
    sample.item({ id: 2, variations }),
    ...seats.map((seat_guid, index) => sample.seat({ id: index + 1, seat_guid, product: 1 })),
    ...quotas.map(({ id, size, items, variations: ofQuota }) => sample.quota({ id, size, items, variations: ofQuota })),
    sample.order({
      positions: [position(), position({ id: 2, positionid: 2, item: 2, variation: 21, secret: "b" })],
    }),
  );
  expect(rejected).toEqual({});
}

const quotas = [
  { id: 1, size: 8, items: [1], variations: [] as number[], sold: 1 },
  { id: 2, size: 12, items: [1, 2], variations: [21], sold: 2 },
  { id: 3, size: null, items: [2], variations: [21, 22], sold: 1 },
  { id: 4, size: 5, items: [2], variations: [22], sold: 0 },
];
type Quota = (typeof quotas)[number];

const held = () => db.many<{ voucher: number }>(sql`select voucher from held_claim order by voucher`);
const confirmed = () =>
  db.many(sql`
    select id, max_usages - greatest(recorded_uses + uses, 0) as amount, revision
      from voucher_claim
     where max_usages is not null
     order by id`);

describe("a fact of a voucher", () => {
  beforeEach(openShop);

  it("ends the holds that were asked for before it, and no other voucher's part of them", async () => {
    await ledger.mustHold([need(1), need(2)]);
    await ledger.tell(voucher(1, { revision: 4 }));
    expect(await held()).toEqual([{ voucher: 2 }]);
    await ledger.mustHold([need(1, { amount: 2, basedOn: 4 })]);
    await ledger.tell(voucher(1, { revision: 4 }));
    expect(await held()).toEqual([{ voucher: 1 }, { voucher: 2 }]);
    await ledger.tell(voucher(2), voucher(1, { revision: 5, maxUsages: 2 }));
    expect(await held()).toEqual([]);
    expect(await confirmed()).toEqual([
      { id: 1, amount: 2, revision: 5 },
      { id: 2, amount: 1, revision: 1 },
    ]);
  });

  it("[V4.16] ends the holds of all earlier ones, which may never arrive", async () => {
    await ledger.mustHold([need(1)]);
    await ledger.mustHold([need(1, { amount: 2, basedOn: 1 })]);
    await ledger.mustHold([need(1, { amount: 3, basedOn: 2 })]);
    const underWay = await ledger.mustHold([need(1, { amount: 4, basedOn: 7 })]);
    // No hold preceded it: a change that takes less needs none.
    await ledger.tell(voucher(1, { revision: 7 }));
    expect(await db.many(sql`select hold from held_claim`)).toEqual([{ hold: underWay }]);
    expect(await confirmed()).toEqual([{ id: 1, amount: 1, revision: 7 }]);
  });

  it("ends its holds also where a later state came first, in one batch or two", async () => {
    for (const basedOn of [0, 1, 2]) await ledger.mustHold([need(1, { amount: basedOn + 1, basedOn })]);
    await ledger.tell(voucher(1, { revision: 3 }));
    await ledger.tell(voucher(1, { maxUsages: 5 }), voucher(1, { revision: 2 }));
    expect(await held()).toEqual([]);
    expect(await confirmed()).toEqual([{ id: 1, amount: 1, revision: 3 }]);
  });

  it("that a rebuild repeats leaves the holds that were asked for on its state", async () => {
    await ledger.tell(voucher(1, { revision: 3 }));
    await ledger.mustHold([need(1, { amount: 2, basedOn: 3 })]);
    await ledger.tell(voucher(1, { revision: 90, changed: 3 }));
    expect(await held()).toEqual([{ voucher: 1 }]);
    await ledger.tell(voucher(1, { revision: 91, maxUsages: 2 }));
    expect(await held()).toEqual([]);
  });

  it("[V4.16] that is its deletion ends the holds before it, and none of a voucher that came again", async () => {
    await ledger.mustHold([need(1)]);
    await ledger.mustHold([need(1, { amount: 2, basedOn: 5 })]);
    const again = await ledger.mustHold([need(1, { amount: 3, basedOn: 12 })]);
    await ledger.tellDeleted(1, 9);
    expect(await db.many(sql`select hold from held_claim`)).toEqual([{ hold: again }]);
  });

  it("replaces the state before a deletion, whatever its revision", async () => {
    await ledger.tell(voucher(1, { revision: 9 }));
    await ledger.tell(1, voucher(1, { revision: 2, maxUsages: 3 }));
    expect(await confirmed()).toEqual([{ id: 1, amount: 3, revision: 2 }]);
    await ledger.tell(voucher(1, { revision: 4 }), 1);
    expect(await confirmed()).toEqual([]);
  });

  it("that a rebuild does not repeat was of a voucher that is gone", async () => {
    await ledger.tell(voucher(1, { revision: 5 }), voucher(2, { revision: 7 }));
    await ledger.sweep(6);
    expect(await confirmed()).toEqual([{ id: 2, amount: 1, revision: 7 }]);
  });

  it("ends with a rebuild, where voucher has lost what it knew of a hold, after a day", async () => {
    await ledger.mustHold([need(1)]);
    await db.run(sql`update capacity_hold set changed_at = changed_at - interval '25 hours'`);
    await ledger.mustHold([need(2)]);
    // Its cutoff is no time, so the begin of the rebuild is unknown.
    await ledger.sweep(1000);
    expect(await held()).toEqual([{ voucher: 1 }, { voucher: 2 }]);
    await ledger.sweep(Date.now() * 1000 - 7_200_000_000);
    expect(await held()).toEqual([{ voucher: 1 }, { voucher: 2 }]);
    await ledger.sweep(Date.now() * 1000);
    expect(await held()).toEqual([{ voucher: 2 }]);
  });

  it("that a rebuild repeats has its uses counted again, also where all claims were lost", async () => {
    await ledger.tell(voucher(1, { maxUsages: 5 }));
    const using = sample.order({ code: "U", positions: [position({ id: 9, secret: "u", voucher: 1 })] });
    expect(await office.apply(using)).toEqual({});
    for (const loss of [sql`update voucher_claim set uses = 3`, sql`delete from voucher_claim`]) {
      await db.run(loss);
      await ledger.tell(voucher(1, { maxUsages: 5, revision: 20, changed: 1 }));
      await ledger.sweep(2);
      expect(await confirmed()).toEqual([{ id: 1, amount: 4, revision: 20 }]);
    }
  });

  it("takes nothing of an event that does not exist, and ends its holds", async () => {
    await ledger.tell(voucher(1, { event: "gala" }), voucher(1, { organizer: "rival" }), voucher(2));
    expect(await confirmed()).toEqual([{ id: 2, amount: 1, revision: 1 }]);
  });
});

const products = [
  { item: 1 },
  { item: 2, variation: 21 },
  { item: 2, variation: 22 },
  { item: 2 },
  { quota: 1 },
  { quota: 3 },
] as const;
const times = [undefined, undefined, undefined, longAgo, farAway];

/** What a voucher is to take, as in a hold and in a fact. */
const wish = record({
  voucher: integer({ min: 1, max: 4 }),
  product: constantFrom<(typeof products)[number]>(...products),
  amount: integer({ min: 0, max: 4 }),
  validUntil: constantFrom(...times),
  seat: constantFrom(undefined, undefined, undefined, ...seats),
  isChecked: constantFrom(true, true, true, false),
  // The revision that a hold is to replace; an older one was overtaken.
  basedOn: integer({ min: 0, max: 8 }),
});
type Wish = typeof wish extends Arbitrary<infer T> ? T : never;

/** The index of one of the last holds. */
const place = integer({ min: 0, max: 5 });

/** A process may be killed after any step: later steps do not happen, or much later. */
const step = oneof(
  {
    weight: 5,
    arbitrary: record({
      kind: constantFrom("hold" as const),
      needs: uniqueArray(wish, { minLength: 1, maxLength: 3, selector: ({ voucher: id }) => id }),
    }),
  },
  { weight: 1, arbitrary: record({ kind: constantFrom("repeat" as const), hold: place }) },
  { weight: 2, arbitrary: record({ kind: constantFrom("release" as const), hold: place }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("release early" as const) }) },
  {
    weight: 5,
    arbitrary: record({
      kind: constantFrom("fact" as const),
      wish,
      // May be older than the last one, or equal.
      revision: integer({ min: 1, max: 9 }),
      twice: boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      kind: constantFrom("deletion" as const),
      voucher: integer({ min: 1, max: 4 }),
      deletedAt: integer({ min: 1, max: 9 }),
    }),
  },
);
type Step = typeof step extends Arbitrary<infer T> ? T : never;

interface Line {
  readonly voucher: number;
  readonly amount: number;
  readonly product: Wish["product"];
  readonly validUntil: number | undefined;
  readonly seat: string | undefined;
  readonly basedOn: number;
}

const isOver = ({ validUntil }: Pick<Line, "validUntil">) => validUntil === longAgo;

/** Whether a product belongs to a quota, by an independent implementation. */
function belongs(product: Wish["product"], quota: Quota): boolean {
  if ("quota" in product) return product.quota === quota.id;
  if ("variation" in product) return quota.variations.includes(product.variation);
  return product.item === 1 ? quota.items.includes(1) : quota.variations.length > 0;
}

/** The ledger as lists in memory. */
class Model {
  readonly confirmed = new Map<number, Line & { readonly revision: number }>();
  readonly held = new Map<string, Line[]>();
  readonly answers = new Map<string, "released" | unknown[]>();

  linesOf(voucher: number): Line[] {
    return [...this.confirmed.values(), ...[...this.held.values()].flat()].filter((line) => line.voucher === voucher);
  }

  /** Ends holds that were to replace an earlier state of the voucher. */
  endHolds(voucher: number, changed: number): void {
    for (const [hold, lines] of this.held) {
      const left = lines.filter((line) => line.voucher !== voucher || line.basedOn >= changed);
      this.held.set(hold, left);
    }
  }

  takes(voucher: number, quota: Quota): number {
    const lines = this.linesOf(voucher).filter((line) => !isOver(line) && belongs(line.product, quota));
    return Math.max(0, ...lines.map(({ amount }) => amount));
  }

  takenOf(quota: Quota): number {
    return [1, 2, 3, 4].reduce((sum, id) => sum + this.takes(id, quota), 0);
  }

  hold(needs: readonly Wish[]): unknown[] {
    const promised = new Map<number, number>();
    const named = new Set<string>();
    return needs.flatMap((each, index) => {
      const quotaProblem = this.#findShort(each, promised);
      const seatProblem = this.#findSeatProblem(each, named);
      if (each.seat !== undefined && !isOver(each)) named.add(each.seat);
      const found = quotaProblem ?? seatProblem;
      return found === undefined ? [] : [{ need: index, ...found }];
    });
  }

  #findShort(each: Wish, promised: Map<number, number>): object | undefined {
    if (each.amount === 0 || isOver(each)) return undefined;
    const wanted = quotas
      .filter((quota) => belongs(each.product, quota))
      .map((quota) => ({ quota, more: Math.max(each.amount - this.takes(each.voucher, quota), 0) }));
    const short = wanted.find(({ quota, more }) => {
      const left = (quota.size ?? 1e9) - quota.sold - this.takenOf(quota) - (promised.get(quota.id) ?? 0);
      return each.isChecked && more > 0 && left < more;
    });
    if (short !== undefined) return { kind: NeedProblemKind.TOO_LITTLE_LEFT, quota: short.quota.id };
    for (const { quota, more } of wanted) promised.set(quota.id, (promised.get(quota.id) ?? 0) + more);
    return undefined;
  }

  #findSeatProblem({ voucher: id, product, seat }: Wish, named: ReadonlySet<string>): object | undefined {
    if (seat === undefined) return undefined;
    const isClaimed = [1, 2, 3, 4].some(
      (other) => other !== id && this.linesOf(other).some((line) => line.seat === seat && !isOver(line)),
    );
    if (isClaimed || named.has(seat)) return { kind: NeedProblemKind.SEAT_TAKEN };
    return "item" in product && product.item !== 1 ? { kind: NeedProblemKind.SEAT_OF_OTHER_ITEM } : undefined;
  }
}

function toNeed({ voucher: id, product, isChecked, ...rest }: Wish): VoucherNeed {
  return { voucher: id, ...product, isChecked, ...rest };
}

/** Applies one step to the ledger and to the model. */
async function take(model: Model, each: Step, names: string[]): Promise<void> {
  const nameAt = (at: number) => names.at(-1 - (at % Math.max(names.length, 1)));
  switch (each.kind) {
    case "hold": {
      const hold = randomUUID();
      names.push(hold);
      const problems = model.hold(each.needs);
      expect((await ledger.ask({ hold, needs: each.needs.map(toNeed) })).problems).toEqual(problems);
      model.answers.set(hold, problems);
      if (problems.length === 0) model.held.set(hold, [...each.needs]);
      return;
    }
    case "repeat": {
      const hold = nameAt(each.hold);
      if (hold === undefined) return;
      const answer = model.answers.get(hold);
      const asked = ledger.ask({ hold, needs: [need(1)] });
      if (answer === "released") await expect(asked).rejects.toMatchObject({ code: "hold_released" });
      else expect((await asked).problems).toEqual(answer);
      return;
    }
    case "release":
    case "release early": {
      const known = each.kind === "release" ? nameAt(each.hold) : undefined;
      const hold = known ?? randomUUID();
      if (known === undefined) names.push(hold);
      await ledger.release(hold);
      model.answers.set(hold, "released");
      model.held.delete(hold);
      return;
    }
    case "fact": {
      const { voucher: id, product, amount, validUntil, seat } = each.wish;
      const fields = { item: undefined, ...product, validUntil, seat, maxUsages: amount };
      const fact = voucher(id, { ...fields, revision: each.revision });
      await ledger.tell(...(each.twice ? [fact, fact] : [fact]));
      if ((model.confirmed.get(id)?.revision ?? 0) < each.revision) {
        const claimed = amount > 0 ? seat : undefined;
        const line = { voucher: id, product, amount, validUntil, seat: claimed, basedOn: 0 };
        model.confirmed.set(id, { ...line, revision: each.revision });
      }
      model.endHolds(id, each.revision);
      return;
    }
    case "deletion":
      await ledger.tellDeleted(each.voucher, each.deletedAt);
      model.confirmed.delete(each.voucher);
      model.endHolds(each.voucher, each.deletedAt);
  }
}

/** The claims of vouchers by quota, as the ledger computes them. */
async function countTaken(): Promise<Record<number, number>> {
  const stored = await readQuotas(db, scope, { ids: [], subevents: [null] });
  const taken = sumByQuota((await readLedger(db, [scope])).claims, matchQuotas(stored, new Map([[2, [21, 22]]])));
  return Object.fromEntries(quotas.map(({ id }) => [id, taken.get(id) ?? 0]));
}

it("[V4.1, V4.13] vouchers take what a list of them says, whatever is held, released, told again or told late", async () => {
  const seen = { held: 0, refused: 0, confirmed: 0 };
  await assert(
    asyncProperty(array(step, { minLength: 5, maxLength: 25, size: "max" }), async (steps) => {
      await openShop();
      const model = new Model();
      const names: string[] = [];
      for (const each of steps) {
        const before = [...model.held.values()].flat().length;
        await take(model, each, names);
        expect(await countTaken()).toEqual(Object.fromEntries(quotas.map((quota) => [quota.id, model.takenOf(quota)])));
        const lines = [...model.held.values()].flat().length;
        expect((await held()).length).toBe(lines);
        if (each.kind === "hold") seen[lines > before ? "held" : "refused"] += 1;
        if (each.kind === "fact" && lines < before) seen.confirmed += 1;
      }
    }),
    { numRuns: 60 },
  );
  // If all steps were refused, the test would prove nothing.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
});

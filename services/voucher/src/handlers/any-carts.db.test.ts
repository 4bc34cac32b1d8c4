import { randomUUID } from "node:crypto";
import { topics } from "@tessera/protos/topics";
import {
  type AsyncCommand,
  assert,
  asyncModelRun,
  asyncProperty,
  commands,
  constantFrom,
  integer,
  option,
  tuple,
} from "fast-check";
import { expect, it } from "vitest";
import { type Crash, crashing } from "../testing/crashing.ts";
import { voucherDatabase } from "../testing/database.ts";
import { expire, outcomesOf, prepareShop, reserve, shopAsk, soldFact } from "../testing/shop-asks.ts";
import { place, type RunningVoucher, startVoucher } from "../testing/start-voucher.ts";

const { database } = await voucherDatabase();
const db = crashing(database.open("voucher"));
const service = await startVoucher(db);
/** The vouchers of this test, in cents. A ticket costs more than any discount. */
const terms = [
  { code: "PLENTY", maxUsages: 6, minUsages: 1, discount: 1000, budget: 3500 },
  { code: "SCARCE", maxUsages: 3, minUsages: 2, discount: 250, budget: 100_000 },
] as const;

function termsOf(voucher: number): (typeof terms)[number] {
  return terms[voucher === 0 ? 0 : 1];
}

interface Cart {
  readonly reservation: string;
  readonly voucher: number;
  readonly discounts: readonly number[];
  /** The position of the first use; those of the others follow. */
  readonly position: number;
  state: "open" | "confirmed" | "released" | "expired";
}

interface Sold {
  readonly voucher: number;
  readonly discount: number;
  /** Undefined: no state has arrived. */
  counts: boolean | undefined;
  isConfirmed: boolean;
  /** The removal of the position ended its use. */
  isGone: boolean;
}

/** The expected state. */
interface Model {
  readonly carts: Cart[];
  readonly positions: Map<number, Sold>;
  revision: number;
}

/** Runs a call that may crash; then the shop repeats it. */
async function repeat<T>(crash: Crash | undefined, call: () => Promise<T>): Promise<T> {
  if (crash !== undefined) {
    db.crashNext(crash);
    await call().catch(() => {});
    db.crashNext(undefined);
  }
  return call();
}

const outcome = (call: Promise<unknown>) =>
  call.then(
    () => "done",
    ({ code }: { code: string }) => code,
  );

const counted = (sold: Sold) => sold.counts ?? (sold.isConfirmed && !sold.isGone);

function usesOf({ carts, positions }: Model, voucher: number) {
  const sold = [...positions.values()].filter((each) => each.voucher === voucher && counted(each));
  const held = carts
    .filter((cart) => cart.voucher === voucher && cart.state === "open")
    .flatMap((cart) => cart.discounts);
  return {
    redeemed: sold.length,
    used: sold.reduce((sum, { discount }) => sum + discount, 0),
    reserved: held.length,
    held: held.reduce((sum, discount) => sum + discount, 0),
  };
}

function money(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** The expected answers for a number of uses, each a discount in cents or a reason. */
function expectAnswers(model: Model, voucher: number, uses: number): readonly (number | string)[] {
  const { maxUsages, minUsages, discount, budget } = termsOf(voucher);
  const { redeemed, reserved, used, held } = usesOf(model, voucher);
  let left = Math.max(0, budget - used - held);
  return Array.from({ length: uses }, (_, index) => {
    const unsold = maxUsages - redeemed;
    if (unsold <= 0) return "USED_UP";
    if (index >= unsold) return "TOO_MANY_USES";
    if (index >= unsold - reserved) return "RESERVED";
    const given = Math.min(discount, left);
    left -= given;
    return uses < Math.max(1, minUsages - redeemed) ? "TOO_FEW_USES" : given;
  });
}

type Command = AsyncCommand<Model, RunningVoucher>;

/** Every command compares all vouchers afterwards. */
abstract class Step implements Command {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  check(): boolean {
    return true;
  }

  abstract act(model: Model): Promise<void>;

  async run(model: Model): Promise<void> {
    await this.act(model);
    for (const [voucher, { code, maxUsages, budget }] of terms.entries()) {
      const { redeemed, used, reserved, held } = usesOf(model, voucher);
      const listed = await service.vouchers.listVouchers({ ...place, page: 1, pageSize: 50, ordering: [], code });
      expect(listed.vouchers, this.#name).toMatchObject([{ redeemed, budgetUsed: money(used) }]);
      const { answers } = await service.shop.checkVouchers({ ...place, asks: [shopAsk(code)] });
      const left = Math.max(0, maxUsages - redeemed) - reserved;
      if (left > 0)
        expect(answers, this.#name).toMatchObject([
          { outcome: { value: { usesLeft: left, budgetLeft: money(Math.max(0, budget - used - held)) } } },
        ]);
      else expect(answers, this.#name).toMatchObject([{ outcome: { $case: "refusal" } }]);
    }
  }

  toString(): string {
    return this.#name;
  }
}

class Reserve extends Step {
  readonly #plan: { readonly voucher: number; readonly uses: number; readonly crash: Crash | undefined };

  constructor(voucher: number, uses: number, crash: Crash | undefined) {
    super(`reserve ${uses} of voucher ${voucher}, ${crash}`);
    this.#plan = { voucher, uses, crash };
  }

  async act(model: Model): Promise<void> {
    const { voucher, uses, crash } = this.#plan;
    const { code, maxUsages, budget } = termsOf(voucher);
    const expected = expectAnswers(model, voucher, uses);
    const reservation = randomUUID();
    const answer = await repeat(crash, () =>
      reserve(service, { reservation, codes: Array.from({ length: uses }, () => code) }),
    );
    expect(outcomesOf(answer)).toEqual(expected.map((each) => (typeof each === "number" ? money(each) : each)));
    const discounts = expected.filter((each) => typeof each === "number");
    expect(answer.expiresAt !== undefined).toBe(discounts.length === uses);
    if (discounts.length < uses) return;
    const position = 1 + 100 * model.carts.length;
    model.carts.push({ reservation, voucher, discounts, position, state: "open" });
    const { redeemed, reserved, used, held } = usesOf(model, voucher);
    expect(redeemed + reserved).toBeLessThanOrEqual(maxUsages);
    expect(discounts.every((each) => each === 0) || used + held <= budget).toBe(true);
  }
}

abstract class CartStep extends Step {
  readonly #pick: number;

  constructor(name: string, pick: number) {
    super(`${name} cart ${pick}`);
    this.#pick = pick;
  }

  async act(model: Model): Promise<void> {
    const cart = model.carts[this.#pick % Math.max(1, model.carts.length)];
    if (cart !== undefined) await this.actOn(cart, model);
  }

  abstract actOn(cart: Cart, model: Model): Promise<void>;
}

const positionsOf = ({ position, discounts }: Cart) => discounts.map((_, index) => position + index);

class Confirm extends CartStep {
  readonly #crash: Crash | undefined;

  constructor(pick: number, crash: Crash | undefined) {
    super(`confirm, ${crash},`, pick);
    this.#crash = crash;
  }

  async actOn(cart: Cart, { positions }: Model): Promise<void> {
    const { reservation, voucher, discounts } = cart;
    const ids = positionsOf(cart);
    const call = () => service.shop.confirmReservation({ ...place, reservation, positions: ids });
    const expected = {
      open: "done",
      confirmed: "done",
      released: "reservation_released",
      expired: "reservation_expired",
    };
    expect(await outcome(repeat(this.#crash, call))).toBe(expected[cart.state]);
    if (cart.state !== "open") return;
    cart.state = "confirmed";
    for (const [index, id] of ids.entries()) {
      const sold = positions.get(id);
      if (sold !== undefined) sold.isConfirmed = true;
      else
        positions.set(id, {
          voucher,
          discount: discounts[index] ?? 0,
          counts: undefined,
          isConfirmed: true,
          isGone: false,
        });
    }
  }
}

class Release extends CartStep {
  readonly #crash: Crash | undefined;

  constructor(pick: number, crash: Crash | undefined) {
    super(`release, ${crash},`, pick);
    this.#crash = crash;
  }

  async actOn(cart: Cart): Promise<void> {
    const call = () => service.shop.releaseReservation({ ...place, reservation: cart.reservation });
    expect(await outcome(repeat(this.#crash, call))).toBe(
      cart.state === "confirmed" ? "reservation_confirmed" : "done",
    );
    if (cart.state !== "confirmed") cart.state = "released";
  }
}

class Expire extends CartStep {
  async actOn(cart: Cart): Promise<void> {
    if (cart.state !== "open") return;
    await expire(service, cart.reservation);
    cart.state = "expired";
  }
}

/** The state of a position arrives: only for a product that a shop could sell. */
class Arrive extends CartStep {
  readonly #isCanceled: boolean;

  constructor(how: "cancel" | "sell", pick: number) {
    super(how, pick);
    this.#isCanceled = how === "cancel";
  }

  async actOn(cart: Cart, model: Model): Promise<void> {
    if (cart.state === "released" || cart.state === "expired") return;
    const { code } = termsOf(cart.voucher);
    const listed = await service.vouchers.listVouchers({ ...place, page: 1, pageSize: 1, ordering: [], code });
    const id = listed.vouchers[0]?.id;
    for (const [index, position] of positionsOf(cart).entries()) {
      const fresh = { voucher: cart.voucher, discount: cart.discounts[index] ?? 0, isConfirmed: false };
      const sold = model.positions.get(position) ?? fresh;
      model.revision += 1;
      const state = { revision: model.revision, voucher: id, budget: money(sold.discount), canceled: this.#isCanceled };
      await service.deliver(topics.voucherUseChanged, [soldFact(position, state)]);
      // A repeated older state changes nothing.
      await service.deliver(topics.voucherUseChanged, [
        soldFact(position, { ...state, revision: state.revision - 1, canceled: !state.canceled }),
      ]);
      model.positions.set(position, { ...sold, counts: !this.#isCanceled, isGone: false });
    }
  }
}

/** Positions whose state has arrived are deleted. */
class Remove extends CartStep {
  async actOn(cart: Cart, { positions }: Model): Promise<void> {
    for (const position of positionsOf(cart)) {
      const sold = positions.get(position);
      if (sold?.counts === undefined) continue;
      await service.deliver(topics.voucherUseChanged, [`${place.organizer}/${place.event}/${position}`]);
      positions.set(position, { ...sold, counts: undefined, isGone: true });
    }
  }
}

class Clean extends Step {
  constructor() {
    super("remove what has expired, and sweep");
  }

  async act(): Promise<void> {
    await service.runJob("remove-reservations");
    await service.sweep(topics.voucherUseChanged, 1);
  }
}

it("[V8.2, V8.3, V8.5, V8.6, V8.7, V8.8, V8.9] carts, and the facts of what they sold, leave what a plain count says", async () => {
  const pick = integer({ min: 0, max: 5 });
  const crash = option(constantFrom<Crash>("abort", "lost answer"), { nil: undefined });
  const steps = [
    tuple(integer({ min: 0, max: 1 }), integer({ min: 1, max: 3 }), crash).map((plan) => new Reserve(...plan)),
    tuple(integer({ min: 0, max: 1 }), integer({ min: 1, max: 3 }), crash).map((plan) => new Reserve(...plan)),
    tuple(pick, crash).map((plan) => new Confirm(...plan)),
    tuple(pick, crash).map((plan) => new Release(...plan)),
    pick.map((cart) => new Expire("expire", cart)),
    tuple(constantFrom("cancel", "sell"), pick).map((plan) => new Arrive(...plan)),
    pick.map((cart) => new Remove("delete what was sold of", cart)),
    constantFrom(new Clean()),
  ];
  await assert(
    asyncProperty(commands(steps, { maxCommands: 40, size: "max" }), async (run) => {
      await service.reset();
      await prepareShop(service);
      await service.create(
        ...terms.map(({ code, maxUsages, minUsages, discount, budget }) => ({
          ...{ code, maxUsages, minUsages, budget: money(budget) },
          ...{ priceMode: "subtract", value: money(discount) },
        })),
      );
      await asyncModelRun(() => ({ model: { carts: [], positions: new Map(), revision: 10 }, real: service }), run);
    }),
    { numRuns: 20 },
  );
});

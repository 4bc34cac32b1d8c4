import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import { ofEvent, orderData, positionData } from "../e2e/sample-records.ts";
import { apiKey, toLines } from "./festival.ts";
import { describeFailure, importUntilAnswered } from "./import-until-answered.ts";
import { event, sharedQuotas, soldItem } from "./shared-quotas.ts";

const path = `/api/v1/organizers/bigevents/events/${event}/vouchers/`;

/** What decides what a voucher takes, as a client sends and sees it. */
export interface VoucherTerms {
  readonly max_usages: number;
  readonly item: number | null;
  readonly quota: number | null;
  readonly valid_until: string | null;
}

/** A voucher of which a client was told. */
export interface ToldVoucher {
  readonly id: number;
  /** What it may be now, as JSON: several things, where a request got no answer. */
  possible: ReadonlySet<string>;
  deletion: "none" | "unknown" | "done";
  /** How many changes and deletions were begun, and whether one is under way. */
  changes: number;
  isChanging: boolean;
}

export interface VoucherTraffic {
  readonly told: readonly ToldVoucher[];
  /** Answers that no client may get, whatever dies. */
  readonly oddities: readonly string[];
  /** How many requests of each kind were done, refused, or got no answer. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Begins nothing more, and waits for everything begun. */
  close(): Promise<void>;
}

interface Answer {
  /** `unknown`: it may have been done. */
  readonly kind: "done" | "refused" | "unknown";
  readonly body?: unknown;
}

const past = "2020-01-01T00:00:00Z";
/** Much longer than the gateway gives a batch. */
const answerWithinMs = 120_000;
const ordersAtOnce = 15;
const ordersOfShop = 3;

/**
 * Starts clients that create, change and delete vouchers that block quota, one that sells and cancels without a limit, and
 * shops that sell what they have reserved with a voucher.
 */
export function startVoucherTraffic({
  baseUrls,
  dice,
  clients,
  shops,
}: {
  readonly baseUrls: readonly [string, ...string[]];
  readonly dice: Dice;
  readonly clients: number;
  readonly shops: number;
}): VoucherTraffic {
  const told: ToldVoucher[] = [];
  const sold: number[] = [];
  const oddities: string[] = [];
  const outcomes: Record<string, number> = {};
  let isClosing = false;

  async function send(own: Dice, method: string, under: string, body?: unknown): Promise<Answer> {
    const answer = await sendVoucher(own.pick(baseUrls), { method, under, body });
    if (answer.oddity !== undefined) oddities.push(answer.oddity);
    const name = `${method} ${answer.kind}`;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    return answer;
  }

  /** Notes what came back of a creation. */
  function note(body: unknown, { isSold = false } = {}): ToldVoucher[] {
    const shown = [body].flat() as (VoucherTerms & { readonly id: number })[];
    const noted = shown.map(
      (each): ToldVoucher => ({
        ...{ id: each.id, possible: new Set([termsOf(each)]) },
        ...{ deletion: "none", changes: 0, isChanging: false },
      }),
    );
    told.push(...noted);
    if (isSold) sold.push(...noted.map(({ id }) => id));
    return noted;
  }

  async function live(own: Dice): Promise<void> {
    let mine: ToldVoucher[] = [];
    while (!isClosing) {
      const chosen = mine.length === 0 ? undefined : own.pick(mine);
      if (chosen === undefined || own.chance(30)) mine.push(...(await create(own)));
      else if (own.chance(25)) {
        await remove(own, chosen);
        mine = mine.filter((each) => each !== chosen);
      } else await change(own, chosen, drawChanges(own));
      await sleep(own.below(60));
    }
  }

  async function create(own: Dice): Promise<ToldVoucher[]> {
    if (own.chance(20)) {
      const sent = { item: soldItem, block_quota: true, max_usages: 1 + own.below(4), budget: "500.00" };
      const { kind, body } = await send(own, "POST", "", sent);
      if (kind === "done") note(body, { isSold: true });
      return [];
    }
    const isBatch = own.chance(25);
    const sent = Array.from({ length: isBatch ? 2 + own.below(6) : 1 }, () => drawVoucher(own));
    const { kind, body } = await send(own, "POST", isBatch ? "batch_create/" : "", isBatch ? sent : sent[0]);
    return kind === "done" ? note(body) : [];
  }

  async function during(voucher: ToldVoucher, request: () => Promise<void>): Promise<void> {
    voucher.changes += 1;
    voucher.isChanging = true;
    await request();
    voucher.isChanging = false;
  }

  const change = (own: Dice, voucher: ToldVoucher, changes: Partial<VoucherTerms>) =>
    during(voucher, async () => {
      const after = new Set(
        [...voucher.possible].map((terms) => termsOf({ ...(JSON.parse(terms) as VoucherTerms), ...changes })),
      );
      const { kind } = await send(own, "PATCH", `${voucher.id}/`, changes);
      if (kind === "done") voucher.possible = after;
      if (kind === "unknown") voucher.possible = new Set([...voucher.possible, ...after]);
    });

  const remove = (own: Dice, voucher: ToldVoucher) =>
    during(voucher, async () => {
      const { kind } = await send(own, "DELETE", `${voucher.id}/`);
      if (kind !== "refused") voucher.deletion = kind;
    });

  async function sell(own: Dice): Promise<void> {
    for (let round = 0; !isClosing; round += 1) {
      const orders = Array.from({ length: ordersAtOnce }, (_, at) => drawOrder(own, { at, vouchers: sold }));
      await importRecords(own, orders);
      outcomes["imports"] = round + 1;
    }
  }

  async function importRecords(own: Dice, records: readonly unknown[]): Promise<void> {
    const body = toLines(records);
    await importUntilAnswered({ baseUrl: own.pick(baseUrls), body, oddities });
  }

  /** Reserves with a voucher, sells no more than that, and gives the rest back in the end. */
  async function keepShop(own: Dice, shop: number): Promise<void> {
    while (!isClosing) {
      const { kind, body } = await send(own, "POST", "", { ...drawVoucher(own), ...byProduct(own) });
      const [reserve] = kind === "done" ? note(body) : [];
      if (reserve === undefined) await sleep(own.below(200));
      else await sellReserved(own, shop, reserve);
    }
  }

  async function sellReserved(own: Dice, shop: number, reserve: ToldVoucher): Promise<void> {
    const sold = Array.from({ length: ordersOfShop }, () => 0);
    const sum = () => sold.reduce((all, each) => all + each, 0);
    // One order at a time: several may be stored one after the other.
    for (let step = 3 + own.below(12); step > 0 && !isClosing; step -= 1) {
      if (own.chance(20)) await change(own, reserve, { max_usages: Math.max(1, sum()) + own.below(3) });
      else {
        const [at, most] = [own.below(ordersOfShop), usagesOf(reserve)];
        const wanted = Math.min(own.below(4), most - sum() + (sold[at] ?? 0));
        await importRecords(own, [reservedOrder(own, { shop, at, wanted, reserve })]);
        sold[at] = wanted;
        outcomes["reserved"] = (outcomes["reserved"] ?? 0) + wanted;
      }
      await sleep(own.below(60));
    }
    if (own.chance(30)) return;
    for (const at of sold.keys())
      await importRecords(own, [{ ...ofEvent("order", { code: codeOf(shop, at) }, event), deleted: true }]);
    await remove(own, reserve);
    if (reserve.deletion === "none") oddities.push(`voucher ${reserve.id} cannot be deleted when its orders are gone`);
  }

  const working = [
    ...Array.from({ length: clients }, () => live(dice.fork())),
    ...Array.from({ length: shops }, (_, shop) => keepShop(dice.fork(), shop)),
    sell(dice.fork()),
  ];
  for (const each of working) each.catch((error: unknown) => oddities.push(describeFailure(error)));
  return {
    told,
    oddities,
    outcomes,
    async close() {
      isClosing = true;
      await Promise.all(working);
    },
  };
}

function drawVoucher(dice: Dice): Record<string, unknown> {
  return { block_quota: true, max_usages: 1 + dice.below(4), ...drawPlace(dice) };
}

/** By its quota or by its product. */
function drawPlace(dice: Dice): Pick<VoucherTerms, "item" | "quota"> {
  return dice.chance(50) ? { quota: dice.pick(sharedQuotas).id, item: null } : byProduct(dice);
}

function byProduct(dice: Dice): Pick<VoucherTerms, "item" | "quota"> {
  return { quota: null, item: dice.pick(sharedQuotas).item };
}

function drawChanges(dice: Dice): Partial<VoucherTerms> {
  return dice.pick([
    { max_usages: 1 + dice.below(9) },
    { max_usages: 1 },
    { valid_until: dice.chance(50) ? past : null },
    drawPlace(dice),
  ]);
}

export function isExpired({ valid_until }: VoucherTerms): boolean {
  return valid_until !== null && new Date(valid_until) < new Date();
}

/** How often a voucher may be used, whatever became of changes without an answer. */
function usagesOf({ possible }: ToldVoucher): number {
  return Math.min(...[...possible].map((terms) => (JSON.parse(terms) as VoucherTerms).max_usages));
}

const codeOf = (shop: number, at: number) => `S${shop}X${at}`;

/** An order with so many open positions that use a voucher, and others that are canceled. */
function reservedOrder(
  dice: Dice,
  {
    shop,
    at,
    wanted,
    reserve,
  }: { readonly shop: number; readonly at: number; readonly wanted: number; readonly reserve: ToldVoucher },
): unknown {
  const code = codeOf(shop, at);
  const [terms = ""] = reserve.possible;
  const { item } = JSON.parse(terms) as VoucherTerms;
  if (wanted === 0 && dice.chance(30)) return { ...ofEvent("order", { code }, event), deleted: true };
  const isOpen = wanted > 0 || dice.chance(50);
  const positions = Array.from({ length: Math.max(wanted, 1) + dice.below(2) }, (_, index) => {
    const id = 1000 + 100 * shop + 10 * at + index;
    const [secret, canceled] = [`shop-${id}`, isOpen && index >= wanted];
    return positionData({
      id,
      positionid: index + 1,
      item,
      secret,
      pseudonymization_id: secret,
      canceled,
      voucher: reserve.id,
    });
  });
  return ofEvent(
    "order",
    orderData({ code, status: isOpen ? dice.pick(["p", "n"]) : dice.pick(["e", "c"]), positions }),
    event,
  );
}

/** An order that has a voucher, or another one, or is canceled, or gone. */
function drawOrder(
  dice: Dice,
  { at, vouchers }: { readonly at: number; readonly vouchers: readonly number[] },
): unknown {
  const code = `VF${at}`;
  if (dice.chance(10)) return { ...ofEvent("order", { code }, event), deleted: true };
  const positions = [0, 1].map((index) => {
    const voucher = vouchers.length === 0 || dice.chance(30) ? null : dice.pick(vouchers);
    return positionData({
      id: 10 * at + index + 1,
      positionid: index + 1,
      item: soldItem,
      secret: `voucher-fair-${at}-${index}`,
      pseudonymization_id: `VF${at}${index}`,
      canceled: dice.chance(20),
      voucher,
      voucher_budget_use: voucher === null ? null : "2.50",
    });
  });
  return ofEvent("order", orderData({ code, status: dice.pick(["p", "p", "n", "e", "c"]), positions }), event);
}

function termsOf({ max_usages, item, quota, valid_until }: VoucherTerms): string {
  return JSON.stringify({ max_usages, item, quota, valid_until });
}

/** Sends one request of a voucher. */
export async function sendVoucher(
  baseUrl: string,
  { method, under, body }: { readonly method: string; readonly under: string; readonly body: unknown },
): Promise<Answer & { readonly oddity?: string }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${baseUrl}${path}${under}`, {
      method,
      headers: { authorization: `Token ${apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerWithinMs),
    });
    text = await response.text();
  } catch (error) {
    return { kind: "unknown", oddity: `a request of a voucher gets no answer: ${describeFailure(error)}` };
  }
  const { status } = response;
  if (status === 503 && response.headers.has("retry-after")) return { kind: "unknown" };
  if (status >= 200 && status < 300) return { kind: "done", body: text === "" ? undefined : JSON.parse(text) };
  if ([400, 403, 404, 409, 429].includes(status)) return { kind: "refused" };
  return { kind: "unknown", oddity: `${method} of a voucher is answered ${status} ${text.slice(0, 300)}` };
}

/** Reads a voucher as a client sees it; undefined: there is none. */
export async function readVoucherTerms(baseUrl: string, id: number): Promise<string | undefined> {
  const response = await fetch(`${baseUrl}${path}${id}/`, { headers: { authorization: `Token ${apiKey}` } });
  const body = (await response.json()) as VoucherTerms;
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw new Error(`a voucher is answered ${response.status}`);
  return termsOf(body);
}

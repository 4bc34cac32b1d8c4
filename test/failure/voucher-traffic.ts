import { setTimeout as sleep } from "node:timers/promises";
import { eventData, itemData, ofEvent, orderData, positionData } from "../e2e/sample-records.ts";
import { apiKey, toLines } from "./festival.ts";
import { describeFailure, importUntilAnswered } from "./import-until-answered.ts";
import type { Dice } from "./seeded.ts";

/** An event of its own, so that orders of others do not take its quotas. */
const event = "voucherfair";
const path = `/api/v1/organizers/bigevents/events/${event}/vouchers/`;

/** Vouchers alone take these, and none of them may be overbooked. */
export const limitedQuotas = [
  { id: 1, size: 60, item: 1 },
  { id: 2, size: 40, item: 2 },
] as const;

/** Orders use vouchers of this one. */
const soldItem = 3;

/** The event with its products, as records. */
export const voucherEvent = toLines([
  ofEvent("event", eventData({ slug: event }), event),
  ofEvent("category", { id: 1, name: { en: "Tickets" }, position: 1 }, event),
  ...[1, 2, soldItem].map((id) => ofEvent("item", itemData({ id }), event)),
  ...limitedQuotas.map(({ id, size, item }) =>
    ofEvent("quota", { id, name: `Quota ${id}`, size, items: [item], variations: [], subevent: null }, event),
  ),
  ofEvent("quota", { id: 3, name: "Sold", size: null, items: [soldItem], variations: [], subevent: null }, event),
]);

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
/** Longer than the gateway gives a batch. */
const answerWithinMs = 30_000;
const ordersAtOnce = 15;

/** Starts clients that create, change and delete vouchers that block quota, and one that sells and cancels. */
export function startVoucherTraffic({
  baseUrls,
  dice,
  clients,
}: {
  readonly baseUrls: readonly [string, ...string[]];
  readonly dice: Dice;
  readonly clients: number;
}): VoucherTraffic {
  const told: ToldVoucher[] = [];
  const sold: number[] = [];
  const oddities: string[] = [];
  const outcomes: Record<string, number> = {};
  let isClosing = false;

  async function send(own: Dice, method: string, under: string, body?: unknown): Promise<Answer> {
    const answer = await sendOnce(own.pick(baseUrls), { method, under, body });
    if (answer.oddity !== undefined) oddities.push(answer.oddity);
    const name = `${method} ${answer.kind}`;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    return answer;
  }

  /** Notes what came back of a creation. */
  function note(body: unknown, { isSold = false } = {}): ToldVoucher[] {
    const shown = [body].flat() as (VoucherTerms & { readonly id: number })[];
    const noted = shown.map(
      (each): ToldVoucher => ({ id: each.id, possible: new Set([termsOf(each)]), deletion: "none" }),
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
        const { kind } = await send(own, "DELETE", `${chosen.id}/`);
        if (kind !== "refused") chosen.deletion = kind;
        mine = mine.filter((each) => each !== chosen);
      } else await change(own, chosen);
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

  async function change(own: Dice, voucher: ToldVoucher): Promise<void> {
    const changes: Partial<VoucherTerms> = own.pick([
      { max_usages: 1 + own.below(9) },
      { max_usages: 1 },
      { valid_until: own.chance(50) ? past : null },
      drawPlace(own),
    ]);
    const after = new Set(
      [...voucher.possible].map((terms) => termsOf({ ...(JSON.parse(terms) as VoucherTerms), ...changes })),
    );
    const { kind } = await send(own, "PATCH", `${voucher.id}/`, changes);
    if (kind === "done") voucher.possible = after;
    if (kind === "unknown") voucher.possible = new Set([...voucher.possible, ...after]);
  }

  async function sell(own: Dice): Promise<void> {
    for (let round = 0; !isClosing; round += 1) {
      const orders = Array.from({ length: ordersAtOnce }, (_, at) => drawOrder(own, { at, vouchers: sold }));
      await importUntilAnswered({ baseUrl: own.pick(baseUrls), body: toLines(orders), oddities });
      outcomes["imports"] = round + 1;
    }
  }

  const working = [...Array.from({ length: clients }, () => live(dice.fork())), sell(dice.fork())];
  for (const each of working) each.catch(() => {});
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
  const { id, item } = dice.pick(limitedQuotas);
  return dice.chance(50) ? { quota: id, item: null } : { quota: null, item };
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

async function sendOnce(
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

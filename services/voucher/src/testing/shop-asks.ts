import { sql } from "@tessera/kit/pg/sql";
import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { ReserveVouchersResponse, VoucherAnswer, VoucherAsk } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { topics } from "@tessera/protos/topics";
import type { EventKey } from "../store/keys.ts";
import { place, type RunningVoucher } from "./start-voucher.ts";

const json = (document: object) => Buffer.from(JSON.stringify(document));

/**
 * An event in euros, unless another currency is named. Item 1 costs 23.00. Item 2 has variations: 21 for 45.00, 22 for the
 * 40.00 of the item. Quota 9 has item 1 and variation 21. In a series, the products cost less on date 5, but not on date 6.
 */
export async function prepareShop(
  service: RunningVoucher,
  {
    currency = "EUR",
    hasSubevents = false,
    at = place,
  }: { currency?: string; hasSubevents?: boolean; at?: EventKey } = {},
): Promise<void> {
  const event = { ...at, revision: 1, name: {}, timezone: "UTC", locale: "en", document: json({ currency }) };
  await service.deliver(topics.eventChanged, [{ ...event, hasSubevents, ticketDownload: undefined }]);
  const item = { ...at, revision: 1, name: {}, admission: true, position: 0, checkinAttention: false };
  const variation = { value: {}, position: 0, checkinAttention: false };
  const variations = [
    { id: 21, default_price: "45.00" },
    { id: 22, default_price: null },
  ];
  await service.deliver(topics.itemChanged, [
    { ...item, id: 1, variations: [], document: json({ default_price: "23.00", variations: [] }) },
    {
      ...item,
      id: 2,
      variations: variations.map(({ id }) => ({ ...variation, id })),
      document: json({ default_price: "40.00", variations }),
    },
  ]);
  await service.deliver(topics.quotaChanged, [
    { ...at, id: 9, revision: 1, items: [1, 2], variations: [21], subevent: undefined },
  ]);
  if (!hasSubevents) return;
  const date = { ...at, revision: 1, name: {}, active: true };
  const overrides = {
    item_price_overrides: [
      { item: 1, price: "20.00" },
      { item: 2, price: "35.00" },
    ],
    variation_price_overrides: [
      { variation: 21, price: "38.00" },
      { variation: 22, price: null },
    ],
  };
  await service.deliver(topics.subeventChanged, [
    { ...date, id: 5, document: json(overrides) },
    { ...date, id: 6, document: json({}) },
  ]);
}

export function shopAsk(code: string, changes: Partial<VoucherAsk> = {}): VoucherAsk {
  return { code, item: 1, ...changes };
}

export function outcomesOf({ answers }: { readonly answers: readonly VoucherAnswer[] }): string[] {
  return answers.map(({ outcome }) => {
    if (outcome === undefined) return "nothing";
    return outcome.$case === "offer" ? outcome.value.discount : outcome.value.reason.replace("REFUSAL_REASON_", "");
  });
}

/** Reserves; by default for a minute, and one use. */
export async function reserve(
  service: RunningVoucher,
  { reservation, codes, lifetimeMs = 60_000 }: { reservation: string; codes: readonly string[]; lifetimeMs?: number },
): Promise<ReserveVouchersResponse> {
  const uses = codes.map((code) => shopAsk(code));
  return service.shop.reserveVouchers({ ...place, reservation, uses, lifetimeMs });
}

/** Lets a reservation expire. */
export async function expire(service: RunningVoucher, reservation: string): Promise<void> {
  for (const table of [sql`reserved_use`, sql`voucher_reservation`])
    await service.db.run(sql`
      update ${table} set expires_at = now() - interval '1 microsecond' where reservation = ${reservation}::uuid`);
}

/** The state of a position. */
export interface SoldState {
  readonly revision: number;
  readonly voucher?: number | undefined;
  readonly canceled?: boolean;
  readonly budget?: string;
  readonly placed?: number;
}

/** The fact of a position of a paid order; without a voucher its use has ended. */
export function soldFact(
  id: number,
  { revision, voucher, canceled = false, budget, placed = Date.UTC(2026, 10, 1, 12) * 1000 }: SoldState,
): VoucherUseChanged | string {
  if (voucher === undefined) return `${place.organizer}/${place.event}/${id}`;
  const order = { orderStatus: OrderStatus.PAID, since: placed };
  return { ...place, id, revision, voucher, canceled, budgetUse: budget, ...order };
}

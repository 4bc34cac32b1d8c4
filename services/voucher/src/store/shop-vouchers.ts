import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { ShopVoucher } from "../domain/offer-voucher.ts";
import type { PriceMode } from "../domain/voucher.ts";
import type { EventKey } from "./keys.ts";

export interface ShopQuestion {
  readonly codes: readonly string[];
  readonly seats: readonly string[];
}

type Row = Omit<ShopVoucher, "priceMode"> & { readonly priceMode: string };

/** Without the comment, which may be long. */
const selected = sql`
           voucher.id, voucher.code, voucher.max_usages as "maxUsages", voucher.min_usages as "minUsages",
           voucher.valid_until_at as "validUntil", voucher.price_mode as "priceMode", voucher.value, voucher.item,
           voucher.variation, voucher.quota, voucher.subevent, voucher.seat, voucher.budget, voucher.redeemed,
           voucher.budget_used as "budgetUsed"`;

/** The usages and the budget held by open reservations of a voucher. */
const reserved = sql`
      cross join lateral (select count(*) as uses, coalesce(sum(reserved_use.budget), 0) as budget
                            from reserved_use
                           where reserved_use.organizer = voucher.organizer
                             and reserved_use.event = voucher.event
                             and reserved_use.voucher = voucher.id
                             and reserved_use.expires_at > clock_timestamp()) as reserved`;

/** Reads vouchers with what open reservations hold of them. */
export async function findShopVouchers(
  db: Queryable,
  { organizer, event }: EventKey,
  { codes, seats }: ShopQuestion,
): Promise<ShopVoucher[]> {
  const where = (condition: Sql) => sql`
    select ${selected}, reserved.uses as reserved, reserved.budget as "reservedBudget"
      from voucher${reserved}
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and ${condition}`;
  const byCode = where(sql`voucher.code = any(${codes}::text[])`);
  // Only requested conditions are part of the statement, so that the plan fits.
  const bySeat = sql`
     union
    ${where(sql`voucher.seat is not null and voucher.seat = any(${seats}::text[])`)}`;
  const rows = await db.many<Row>(sql`${byCode}${seats.length === 0 ? sql`` : bySeat}`);
  return rows.map((row) => ({ ...row, priceMode: row.priceMode as PriceMode }));
}

/** Locks vouchers in the order of their ids: serializes counting and taking their uses; returns the ids. */
export async function lockByCode(
  tx: Queryable,
  { organizer, event }: EventKey,
  codes: readonly string[],
): Promise<number[]> {
  const rows = await tx.many<{ id: number }>(sql`
    select voucher.id
      from voucher
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and voucher.code = any(${codes}::text[])
     order by voucher.id
       for no key update`);
  return rows.map(({ id }) => id);
}

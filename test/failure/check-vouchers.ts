import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { readVoucherTerms, type ToldVoucher } from "./voucher-traffic.ts";

/** What must be the same in voucher and in boxoffice when everything has come to rest. */
const accounts = [
  {
    name: "what vouchers take",
    owned: sql`
      select organizer, event, id, item, variation, quota, subevent, valid_until_at,
             case when block_quota then greatest(max_usages - redeemed, 0) else 0 end as amount,
             case when max_usages > redeemed then seat end as seat
        from voucher.voucher`,
    copied: sql`
      select organizer, event, id, item, variation, quota, subevent, valid_until_at,
             case when blocks then greatest(max_usages - greatest(recorded_uses + uses, 0), 0) else 0 end as amount,
             case when max_usages > greatest(recorded_uses + uses, 0) then seat end as seat
        from boxoffice.voucher_claim
       where max_usages is not null`,
  },
  {
    name: "positions that use vouchers",
    owned: sql`
      select organizer, event, id as position, voucher, taken_as is not null as counts,
             case when taken_as is null then 0 else coalesce(budget_use, 0) end as budget
        from boxoffice.position
       where voucher is not null`,
    copied: sql`select organizer, event, position, voucher, counts, budget from voucher.current_use`,
  },
  {
    name: "what vouchers count",
    owned: sql`
      select organizer, event, voucher, count(*) filter (where counts) as redeemed, sum(budget) as budget
        from voucher.current_use
       group by 1, 2, 3
      having count(*) filter (where counts) > 0`,
    copied: sql`select organizer, event, id, redeemed, budget_used from voucher.voucher where redeemed > 0`,
  },
] as const;

/** Compares the ledger with vouchers and orders, and both with what clients were told; returns each contradiction. */
export async function checkVouchers({
  db,
  baseUrl,
  told,
}: {
  readonly db: Db;
  readonly baseUrl: string;
  readonly told: readonly ToldVoucher[];
}): Promise<string[]> {
  const found: string[] = [];
  for (const { name, owned, copied } of accounts) {
    const missing = await db.many(sql`(${owned}) except all (${copied})`);
    const strange = await db.many(sql`(${copied}) except all (${owned})`);
    if (missing.length > 0) found.push(`${name}: ${missing.length} are missing, ${JSON.stringify(missing[0])}`);
    if (strange.length > 0) found.push(`${name}: ${strange.length} are strange, ${JSON.stringify(strange[0])}`);
  }
  const left = await db.one<Record<string, number>>(sql`
    select (select count(*) from voucher.asked_hold) as "remembered holds",
           (select count(*) from boxoffice.held_claim) as "held claims"`);
  for (const [name, count] of Object.entries(left)) if (count > 0) found.push(`${count} ${name} are left`);
  for (const { id, possible, deletion } of told) {
    const shown = await readVoucherTerms(baseUrl, id);
    const isRight = shown === undefined ? deletion !== "none" : deletion !== "done" && possible.has(shown);
    if (!isRight) found.push(`voucher ${id} is ${shown}, and not one of ${[...possible]} (deletion: ${deletion})`);
  }
  return found;
}

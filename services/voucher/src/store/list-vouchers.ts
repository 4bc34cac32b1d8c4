import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { EventKey } from "./keys.ts";
import { type StoredVoucher, toVoucher, vouchers } from "./vouchers.ts";

/** Which vouchers of an event are wanted; what is missing is not asked for. */
export interface VoucherFilter extends EventKey {
  readonly code?: string | undefined;
  readonly maxUsages?: number | undefined;
  readonly redeemed?: number | undefined;
  readonly blockQuota?: boolean | undefined;
  readonly allowIgnoreQuota?: boolean | undefined;
  readonly priceMode?: string | undefined;
  readonly value?: string | undefined;
  readonly item?: number | undefined;
  readonly variation?: number | undefined;
  readonly quota?: number | undefined;
  readonly tag?: string | undefined;
  readonly subevent?: number | undefined;
  readonly active?: boolean | undefined;
  readonly search?: string | undefined;
}

const isActive = sql`(voucher.redeemed < voucher.max_usages and (voucher.valid_until_at is null or voucher.valid_until_at > now()))`;

/** Only what is asked for is part of the statement, so that its plan fits. */
function matching({ organizer, event, ...wanted }: VoucherFilter): Sql {
  const { code, maxUsages, redeemed, blockQuota, allowIgnoreQuota, priceMode, value, search } = wanted;
  const { item, variation, quota, tag, subevent, active } = wanted;
  const pattern = search === undefined ? "" : `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const conditions: readonly (readonly [unknown, Sql])[] = [
    [code, sql`voucher.code = ${normalizeCode(code ?? "")}`],
    [maxUsages, sql`voucher.max_usages = ${maxUsages}`],
    [redeemed, sql`voucher.redeemed = ${redeemed}`],
    [blockQuota, sql`voucher.block_quota = ${blockQuota}`],
    [allowIgnoreQuota, sql`voucher.allow_ignore_quota = ${allowIgnoreQuota}`],
    [priceMode, sql`voucher.price_mode = ${priceMode}`],
    [value, sql`voucher.value = ${value}::numeric`],
    [item, sql`voucher.item = ${item}`],
    [variation, sql`voucher.variation = ${variation}`],
    [quota, sql`voucher.quota = ${quota}`],
    [tag, sql`voucher.tag = ${tag} and voucher.tag <> ''`],
    [subevent, sql`voucher.subevent = ${subevent}`],
    [active, active === true ? isActive : sql`not ${isActive}`],
    [search, sql`(voucher.code ilike ${pattern} or voucher.tag ilike ${pattern} or voucher.comment ilike ${pattern})`],
  ];
  const asked = conditions.flatMap(([given, condition]) => (given === undefined ? [] : [sql`and ${condition}`]));
  return sql`
      from voucher
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       ${joinSql(asked, "\n       ")}`;
}

export async function countVouchers(db: Queryable, filter: VoucherFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count ${matching(filter)}`);
  return count;
}

/** The contract's names for what vouchers can be ordered by. */
const orderings: ReadonlyMap<string, Sql> = new Map(
  Object.entries({
    id: sql`voucher.id`,
    code: sql`voucher.code`,
    max_usages: sql`voucher.max_usages`,
    valid_until: sql`voucher.valid_until_at`,
    value: sql`voucher.value`,
  }).flatMap(([name, by]): [string, Sql][] => [
    [name, by],
    [`-${name}`, sql`${by} desc`],
  ]),
);

export async function pageVouchers(
  db: Queryable,
  filter: VoucherFilter,
  {
    ordering,
    limit,
    offset,
  }: { readonly ordering: readonly string[]; readonly limit: number; readonly offset: number },
): Promise<StoredVoucher[]> {
  const wanted = [...new Set(ordering)].map((name) => orderings.get(name)).filter((term) => term !== undefined);
  const terms = wanted.length === 0 ? [sql`voucher.id`] : [...wanted, sql`voucher.id desc`];
  const rows = await db.many<Readonly<Record<string, unknown>>>(sql`
    select ${vouchers.selected} ${matching(filter)}
     order by ${joinSql(terms, ", ")}
     limit ${limit} offset ${offset}`);
  return rows.map(toVoucher);
}

import { joinSql, literal, type Sql, sql } from "@tessera/kit/pg/sql";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { EventKey } from "./keys.ts";

/** Which vouchers of an event are wanted. Undefined conditions do not count. */
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
  /** The ids that a search has found. */
  readonly ids?: readonly number[] | undefined;
}

export function ofEvent({ organizer, event }: EventKey): Sql {
  return sql`voucher.organizer = ${organizer} and voucher.event = ${event}`;
}

/** Literals, not parameters: plans for rare and for frequent modes differ. */
const priceModes: ReadonlyMap<string, Sql> = new Map(
  ["none", "set", "subtract", "percent"].map((mode) => [mode, sql`voucher.price_mode = ${literal(mode)}`]),
);

/** Only requested conditions are part of the statement, so that the plan fits. */
export function conditionsOn({ organizer, event, ...wanted }: VoucherFilter): Sql {
  const { code, maxUsages, redeemed, blockQuota, allowIgnoreQuota, priceMode, value } = wanted;
  const { item, variation, quota, tag, subevent, active, ids } = wanted;
  const conditions: readonly (readonly [unknown, Sql])[] = [
    [code, sql`voucher.code = ${normalizeCode(code ?? "")}`],
    [maxUsages, sql`voucher.max_usages = ${maxUsages}`],
    [redeemed, sql`voucher.redeemed = ${redeemed}`],
    [blockQuota, blockQuota === true ? sql`voucher.block_quota` : sql`not voucher.block_quota`],
    [
      allowIgnoreQuota,
      allowIgnoreQuota === true ? sql`voucher.allow_ignore_quota` : sql`not voucher.allow_ignore_quota`,
    ],
    [priceMode, priceModes.get(priceMode ?? "") ?? sql`false`],
    [value, sql`voucher.value = ${value}::numeric`],
    [item, sql`voucher.item = ${item}`],
    [variation, sql`voucher.variation = ${variation}`],
    [quota, sql`voucher.quota = ${quota}`],
    [tag, sql`voucher.tag = ${tag} and voucher.tag <> ''`],
    [subevent, sql`voucher.subevent = ${subevent}`],
    [active, active === true ? isActive : isInactive],
    [ids, sql`voucher.id = any(${ids}::bigint[])`],
  ];
  const asked = conditions.flatMap(([given, condition]) => (given === undefined ? [] : [sql`and ${condition}`]));
  return sql`
           ${ofEvent({ organizer, event })}
       ${joinSql(asked, "\n       ")}`;
}

/** The expression of the index. */
const isUsedUp = sql`(voucher.redeemed >= voucher.max_usages)`;
const isInactive = sql`(${isUsedUp} or voucher.valid_until_at <= now())`;
const isActive = sql`(${isUsedUp} is false and (voucher.valid_until_at is null or voucher.valid_until_at > now()))`;

export function isEverything({ organizer: _organizer, event: _event, ...wanted }: VoucherFilter): boolean {
  return Object.values(wanted).every((condition) => condition === undefined);
}

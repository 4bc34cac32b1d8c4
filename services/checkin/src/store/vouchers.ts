import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable, text } from "@tessera/kit/pg/table";
import { type EntityKey, type EventKey, entityKey, keysAs, nameOf } from "./keys.ts";

/** What checkin keeps of vouchers that were redeemed. */
export const vouchers = copyTable("voucher", { key: entityKey, columns: { code: text } });

/** Finds which of these vouchers are kept. */
export async function findKeptVouchers(db: Queryable, keys: readonly EntityKey[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await db.many<EntityKey>(sql`
    select voucher.organizer, voucher.event, voucher.id
      from voucher
      join ${keysAs("wanted", keys)}
        on wanted.organizer = voucher.organizer and wanted.event = voucher.event and wanted.id = voucher.id`);
  return new Set(rows.map(nameOf));
}

/** Finds the voucher of an event that has a code, to the letter. */
export async function findVoucherOfCode(
  db: Queryable,
  { organizer, event }: EventKey,
  code: string,
): Promise<number | undefined> {
  const found = await db.maybeOne<{ id: number }>(sql`
    select voucher.id
      from voucher
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and voucher.code = ${code}
     order by voucher.revision desc
     limit 1`);
  return found?.id;
}

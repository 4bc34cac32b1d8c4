import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable, text } from "@tessera/kit/pg/table";
import { type EventKey, entityKey } from "./keys.ts";

export const vouchers = copyTable("voucher", { key: entityKey, columns: { code: text } });

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

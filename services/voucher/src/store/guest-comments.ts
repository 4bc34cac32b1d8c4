import { countOfErasures } from "@tessera/events/personal-data/erasures";
import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { mask, waitingListTag } from "../domain/guest-comment.ts";
import type { EventKey } from "./keys.ts";

/** Vouchers of an event with a comment that says for which guest they are. The index by tag has none without a tag. */
const ofGuests = ({ organizer, event }: EventKey) => sql`
      voucher.organizer = ${organizer}
  and voucher.event = ${event}
  and voucher.tag = ${waitingListTag}
  and voucher.tag <> ''
  and voucher.comment not in ('', ${mask})`;

export interface GuestComment {
  readonly id: number;
  readonly code: string;
  readonly comment: string;
  readonly tag: string;
}

/** Reads the next comments that name guests, in the order of the vouchers' ids. */
export function readGuestComments(
  db: Queryable,
  place: EventKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<GuestComment[]> {
  return db.many<GuestComment>(sql`
    select voucher.id, voucher.code, voucher.comment, voucher.tag
      from voucher
     where ${ofGuests(place)}
       and voucher.id > ${after}
     order by voucher.id
     limit ${limit}`);
}

export async function countGuestComments(db: Queryable, place: EventKey): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from voucher where ${ofGuests(place)}`,
  );
  return count;
}

/** A text that is another one after each change of the vouchers of an event, and after each erasure. */
export function versionOf({ organizer, event }: EventKey): Sql {
  return sql`
    select md5(concat_ws(' ',
             (select format('%s/%s/%s', count(*), max(voucher.revision), sum(voucher.revision))
                from voucher
               where voucher.organizer = ${organizer}
                 and voucher.event = ${event}),
             ${countOfErasures({ organizer, event })})) as version`;
}

import { sql } from "@tessera/kit/pg/sql";

/** How often each voucher was used that a shop has confirmed, and no position yet: it keeps these places until then. */
const awaited = sql`
  select current_use.organizer, current_use.event, current_use.voucher, count(*) as uses
    from current_use
    join voucher
      on voucher.organizer = current_use.organizer
         and voucher.event = current_use.event
         and voucher.id = current_use.voucher
   where current_use.revision = 0
     and current_use.counts
     and (voucher.counted_as_of_at is null or current_use.since_at >= voucher.counted_as_of_at)
   group by current_use.organizer, current_use.event, current_use.voucher`;
const left = sql`greatest(voucher.max_usages - greatest(voucher.redeemed - coalesce(awaited.uses, 0), 0), 0)`;

/** What each voucher takes, for the reconciliation with boxoffice. */
export const takenRows = sql`
  select voucher.organizer, voucher.event, voucher.id, voucher.revision,
         concat_ws('/', coalesce(voucher.item, 0), coalesce(voucher.variation, 0), coalesce(voucher.quota, 0),
                   coalesce(voucher.subevent, 0), case when voucher.block_quota then ${left} else 0 end,
                   coalesce(extract(epoch from voucher.valid_until_at), 0), case when ${left} > 0 then voucher.seat end) as content
    from voucher
    left join (${awaited}) as awaited
      on awaited.organizer = voucher.organizer
         and awaited.event = voucher.event
         and awaited.voucher = voucher.id
   -- Vouchers of a removed event take nothing.
   where exists (select from event where event.organizer = voucher.organizer and event.event = voucher.event)`;

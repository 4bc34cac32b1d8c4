-- Why: the ledger of doubles is derived from the scans of these tickets: an entry that may be a second one, or an exit that
-- was taken back.
--! no-transaction
drop index concurrently if exists doubtful_scan;
--! next
create index concurrently doubtful_scan on scan (organizer, event, position, list)
 where (successful and type = 'entry' and (overruled is not null or out_of_order))
    or (annulled_at is not null and type = 'exit');

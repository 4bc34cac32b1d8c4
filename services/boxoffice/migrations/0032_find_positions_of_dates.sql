-- Why: scanners of one date ask for the orders of later dates; the positions of a series are found by their date.
--! no-transaction
drop index concurrently if exists position_by_date;
--! next
create index concurrently position_by_date on position (organizer, event, subevent, order_code)
  where subevent is not null and not canceled;

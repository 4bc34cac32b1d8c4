-- Why: every page of a list says how many vouchers there are, and reading a million of them to count them takes longer
-- than a page may.

-- The number of vouchers of an event is a sum over these rows. Every statement that adds or removes vouchers adds a row,
-- and no row is updated, so no change waits for another. A job folds the rows of an event into one.
create table voucher_count (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint generated always as identity,
  vouchers bigint not null,
  folded boolean not null default false,
  primary key (organizer, event, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index voucher_count_fresh on voucher_count (id) where not folded;

-- A trigger counts, so that the sum is right whichever statement of whichever version changes the table. It sees the
-- rows that were inserted: of an insert that finds a row under its key, none.
create function count_vouchers() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into voucher_count (organizer, event, vouchers)
  select changed.organizer, changed.event, count(*) * case lower(tg_op) when 'insert' then 1 else -1 end
    from changed
   group by changed.organizer, changed.event;
  return null;
end
$$;

-- Its lock keeps writers waiting until the vouchers that exist are counted.
create trigger voucher_added after insert on voucher
  referencing new table as changed
  for each statement execute function count_vouchers();
create trigger voucher_removed after delete on voucher
  referencing old table as changed
  for each statement execute function count_vouchers();

insert into voucher_count (organizer, event, vouchers, folded)
select voucher.organizer, voucher.event, count(*), true
  from voucher
 group by voucher.organizer, voucher.event;

-- Index-only reads need pages that a vacuum has seen. By default it would wait for a fifth of the table.
alter table voucher set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);

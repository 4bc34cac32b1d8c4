-- Why: a new document had the time at which its transaction began. That may be before another change that was committed first:
-- who asked in between for what has changed missed it. Now it is the time of writing, under the lock of the change.

alter table sales_channel alter column changed_at set default clock_timestamp();
alter table gate alter column changed_at set default clock_timestamp();
alter table event alter column changed_at set default clock_timestamp();
alter table subevent alter column changed_at set default clock_timestamp();
alter table tax_rule alter column changed_at set default clock_timestamp();
alter table category alter column changed_at set default clock_timestamp();
alter table item alter column changed_at set default clock_timestamp();
alter table quota alter column changed_at set default clock_timestamp();
alter table question alter column changed_at set default clock_timestamp();
alter table seat alter column changed_at set default clock_timestamp();
alter table revoked_secret alter column changed_at set default clock_timestamp();
alter table blocked_secret alter column changed_at set default clock_timestamp();
alter table reusable_medium alter column changed_at set default clock_timestamp();

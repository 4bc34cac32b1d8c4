-- Why: scanners ask for what has changed since they asked last, and what came while a row was written must not be missed.

alter table sales_channel add column changed_at timestamptz not null default now();
alter table gate add column changed_at timestamptz not null default now();
alter table event add column changed_at timestamptz not null default now();
alter table subevent add column changed_at timestamptz not null default now();
alter table tax_rule add column changed_at timestamptz not null default now();
alter table category add column changed_at timestamptz not null default now();
alter table item add column changed_at timestamptz not null default now();
alter table quota add column changed_at timestamptz not null default now();
alter table question add column changed_at timestamptz not null default now();
alter table seat add column changed_at timestamptz not null default now();
alter table revoked_secret add column changed_at timestamptz not null default now();
alter table blocked_secret add column changed_at timestamptz not null default now();
alter table reusable_medium add column changed_at timestamptz not null default now();

-- Why: a ticket that was admitted at two places without a network is found by what the upload of the second scan overruled.
alter table scan
  -- The reason of the refusal that `force` prevented; null for scans that were stored before this column.
  add column overruled text,
  -- An entry that is older than a scan that was stored before it, where the list lets a ticket in once at a time.
  add column out_of_order boolean not null default false;

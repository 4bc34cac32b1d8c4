-- Why: what boxoffice deletes has vouchers here. Those of an event are deleted, and those of a product, a variation or a
-- quota become vouchers for everything: both in stretches, as there may be a million.

-- Events whose vouchers are to be deleted.
create table gone_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  -- Whether a fact says that it was deleted: while its vouchers are being deleted, it exists for no request. Where only a
  -- rebuild left it out, it may come back for a day.
  is_deleted boolean not null,
  noted_at timestamptz not null default now(),
  primary key (organizer, event)
);

-- Products, variations and quotas that were deleted, while vouchers may still name them.
create table lost_reference (
  organizer text collate "C" not null,
  event text collate "C" not null,
  kind text not null check (kind in ('item', 'variation', 'quota')),
  id bigint not null,
  -- Vouchers are not changed before. Where only a rebuild left it out, it may come back for a day.
  due_at timestamptz not null,
  primary key (organizer, event, kind, id)
);

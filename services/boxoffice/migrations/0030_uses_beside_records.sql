--! breaking
-- Why: the record of a voucher contains the uses of its moment, also those that voucher has not counted yet. So boxoffice keeps since
-- when and until when positions used vouchers, and counts by itself what they add to a record.

-- What positions were for vouchers of records, until a moment.
create table former_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  position bigint not null,
  since_at timestamptz not null,
  until_at timestamptz not null,
  -- Whether it used the voucher, or named it only.
  counts boolean not null,
  primary key (organizer, event, voucher, position, until_at)
);
create index former_use_by_position on former_use (organizer, event, position, until_at);

-- How often it was used by its record. Until its next fact, which boxoffice asks for, it is what boxoffice was told instead.
alter table voucher_claim rename column uses_elsewhere to recorded_uses;

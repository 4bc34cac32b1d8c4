-- Why: everything a scan, a list of positions and a search need to know of a
-- ticket, in one row. What is only shown stays encoded in `state`.

create table position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  positionid bigint not null,
  order_code text collate "C" not null,
  item bigint not null,
  variation bigint,
  subevent bigint,
  addon_to bigint,
  secret text collate "C" not null,
  order_status text not null check (order_status in ('pending', 'paid', 'expired', 'canceled')),
  valid_if_pending boolean not null,
  require_approval boolean not null,
  canceled boolean not null,
  blocked boolean not null,
  valid_from_at timestamptz,
  valid_until_at timestamptz,
  -- Which tickets of a list it counts among: `pending` only where the list
  -- includes them, null nowhere.
  counted_as text check (counted_as in ('paid', 'pending_valid', 'pending')),
  attendee_name text,
  order_email text,
  order_placed_at timestamptz not null,
  -- Folded names, e-mail addresses and company, each after a line break, which no field holds.
  search_text text not null,
  -- ticketing.boxoffice.v1.Position
  state bytea not null,
  -- Clients choose the tickets of a list by these two. Neither has an index: an event is read through in the time that a
  -- person waits, and every index costs each import.
  voucher bigint,
  pseudonymization_id text collate "C",
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
) with (fillfactor = 90);

-- Scanned codes are compared to the letter, typed ones by their beginning in any case: one index serves both. A secret may
-- be longer than what an index takes; its beginning tells nearly all of them apart, in four bytes for each character too.
create index position_by_secret on position (organizer, event, lower(left(secret, 250)));
create index position_by_order_code on position (organizer, event, upper(order_code));
create index position_by_addon_to on position (organizer, event, addon_to) where addon_to is not null;
create index position_by_search_text on position using gin (search_text gin_trgm_ops) with (gin_pending_list_limit = 1024);

comment on column position.attendee_name is 'personal data';
comment on column position.order_email is 'personal data';
comment on column position.search_text is 'personal data: names, e-mail addresses and companies of attendee, order and invoice';
comment on column position.state is 'personal data: attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, country, state, answers, order.email, order.invoice_name';

-- What boxoffice said of a position when it was asked may be older than the tombstone of that position, which leaves
-- nothing here to compare it with. Kept for minutes; also for scans that were stored while their ticket was deleted.
create table gone_position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  gone_at timestamptz not null,
  primary key (organizer, event, id)
);
create index gone_position_by_time on gone_position (gone_at);

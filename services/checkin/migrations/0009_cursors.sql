-- Why: links between pages lead on from a ticket. What it is sorted by, names among it, is sealed in them.
create table cursor_key (
  is_only boolean primary key default true check (is_only),
  key bytea not null
);
comment on column cursor_key.key is 'secret: opens the cursors in links of pages, which hold names';

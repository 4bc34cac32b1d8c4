-- Why: a setting ends with its organizer, and not with its name, which another one may get.
alter table retention
  -- When its organizer was created; null: it was not noted yet.
  add column organizer_created_at timestamptz;

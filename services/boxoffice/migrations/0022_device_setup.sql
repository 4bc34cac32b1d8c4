-- Why: a scanner sets itself up with a code that works once, and tells what it runs on. Records say nothing of that, and keep it.

alter table credential
  -- SHA-256 of the code; null: the device has its token from elsewhere.
  add column setup_hash bytea,
  add column setup_until_at timestamptz,
  -- What the scanner said of itself when it was set up or updated; null: it was never set up.
  add column machine jsonb;

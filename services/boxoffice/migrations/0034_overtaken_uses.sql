-- Why: an old state of a position that comes again begins when it comes. The next state that is not older has been there since its own
-- moment, so it ends what the old one was taken for.

-- While the position is as an old state said: since when it was as the newest one said. Null: no newer one came.
alter table position add column voucher_overtaken_at timestamptz;

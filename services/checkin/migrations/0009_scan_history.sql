-- Why: devices tell of refusals until they hear that it arrived, and the history
-- is read in the order of the scans, too.

-- The one for successful scans does not find refusals.
create index refused_scan_by_nonce on scan (nonce, event, organizer) where nonce is not null and not successful;
create index scan_by_time on scan (organizer, event, at, id);

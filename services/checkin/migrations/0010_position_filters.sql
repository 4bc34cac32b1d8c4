-- Why: clients choose the tickets of a list by their pseudonym and their voucher.
-- Rows from before have neither column until their topic is rebuilt. Neither has
-- an index: an event is read through in the time that a person waits anyway, and
-- every index costs each import.
alter table position
  add column voucher bigint,
  add column pseudonymization_id text collate "C";

-- Why: a refused code that is a signed ticket tells its product and date, if a key of its event has signed it.
alter table event
  add column ticket_keys jsonb;

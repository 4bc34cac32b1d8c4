-- Why: pages of tickets are read in the order of names, from an index alone. An index cannot hold names of any length, and
-- one on an expression is never read alone.
alter table position
  add column sort_name text;
comment on column position.sort_name is 'personal data';
-- Index-only reads need pages that a vacuum has seen. By default it would wait for a fifth of the table.
alter table position set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);

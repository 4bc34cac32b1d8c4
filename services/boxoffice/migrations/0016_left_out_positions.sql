-- Why: a position that the record of its order leaves out is canceled and stays, with its scans and answers, because another order
-- may take it over. Without the mark its new order would be refused as one with a position of another order.
alter table position add column left_out boolean not null default false;

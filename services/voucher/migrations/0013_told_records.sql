--! breaking
-- Why: boxoffice counts what positions add to the record of a voucher, so it is told the record, and not what is to be added.

alter table use_sum drop column present;

-- Boxoffice knows when the uses of a position ended.
drop index former_use_by_position;

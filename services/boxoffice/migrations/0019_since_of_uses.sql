-- Why: the record of a voucher contains the uses of its moment, so each use says from when on it is as it is.

-- When the position came to take what it takes of its voucher. Null: when its order was placed.
alter table position add column voucher_since_at timestamptz;

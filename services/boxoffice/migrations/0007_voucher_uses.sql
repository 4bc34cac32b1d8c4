-- Why: a hold of capacity ended by a fact that named it, and a later fact of the voucher may have taken that one's place.
-- Any later state ends it now. And few positions name a voucher: facts of these alone are published for voucher.

-- The revision of the state of the voucher that the hold is to replace; 0: there was none.
alter table held_claim add column based_on bigint not null default 0;

-- The voucher that a position names, and what it took of its budget. Null also where the position was last stored by a
-- version without this column: a rebuild of the uses fills it in.
alter table position add column voucher bigint, add column budget_use numeric;

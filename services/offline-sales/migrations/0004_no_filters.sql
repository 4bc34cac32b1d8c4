--! breaking
-- Why: the list of batches has neither filters nor orders, so nothing reads the copies of what filters named.

drop table item;
drop table subevent;
drop index batch_by_creation;

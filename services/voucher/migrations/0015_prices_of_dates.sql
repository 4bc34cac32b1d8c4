-- Why: every fact about a date has its prices, and without them products would seem to have their own.
alter table subevent add constraint subevent_prices_known check (prices is not null) not valid;

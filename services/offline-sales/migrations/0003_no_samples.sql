-- Why: statistics contain values of columns as samples, which no erasure reaches. No plan needs statistics of these.
alter table batch alter column comment set statistics 0;

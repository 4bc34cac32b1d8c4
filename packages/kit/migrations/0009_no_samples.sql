-- Why: statistics contain values of columns as samples, which no erasure reaches. No statement needs statistics of these.
alter table outbox alter column payload set statistics 0;
alter table dead_letter alter column payload set statistics 0;
alter table answered_request alter column response set statistics 0;
alter table work alter column payload set statistics 0, alter column result set statistics 0;

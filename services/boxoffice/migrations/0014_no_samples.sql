-- Why: statistics contain values of columns as samples, which no erasure reaches. No plan needs statistics of these.
alter table "order" alter column data set statistics 0;
alter table position alter column state set statistics 0;
alter table answer_file alter column name set statistics 0;
alter table gate_answer alter column answer set statistics 0, alter column awaited set statistics 0, alter column file set statistics 0;
alter index gate_answer_file alter column 1 set statistics 0;
alter table reusable_medium alter column data set statistics 0;
alter index reusable_medium_by_position alter column 1 set statistics 0;
alter table sale alter column answer set statistics 0;

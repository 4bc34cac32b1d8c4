-- Why: statistics contain values of columns as samples, which no erasure reaches. No plan needs statistics of these.
alter table position
  alter column attendee_name set statistics 0, alter column order_email set statistics 0,
  alter column search_text set statistics 0, alter column sort_name set statistics 0, alter column state set statistics 0;
alter index position_by_email alter column 3 set statistics 0;
alter table given_answer alter column state set statistics 0;
alter table scan alter column raw_code set statistics 0, alter column explanation set statistics 0;

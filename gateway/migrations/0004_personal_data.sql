-- Why: uploads that answers at gates have named are erased with their event.
alter table upload add column event text;

-- An erasure is of kinds of personal data; what declares them says which.
comment on column kept_answer.body is 'personal data: attendee_info, invoice_addresses, invoices, order_emails, payment_info, phone_numbers, question_answers, waiting_list; whatever the answer showed, for a day';
comment on table upload is 'personal data: question_answers; the files themselves, for instance photographs of people; of what no answer has named the event is not known, and it expires';
comment on column upload.file_name is 'personal data: question_answers';

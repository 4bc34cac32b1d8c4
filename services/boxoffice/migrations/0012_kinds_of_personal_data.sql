-- Why: an erasure is of kinds of personal data; what declares them says which, and what no erasure touches is called kept.
comment on table answer_file is 'personal data: question_answers; the files themselves, for instance photographs of people';
comment on column answer_file.name is 'personal data: question_answers';
comment on table gate_answer is 'personal data: question_answers; the files themselves, for instance photographs of people';
comment on column gate_answer.answer is 'personal data: question_answers; answer';
comment on column gate_answer.awaited is 'personal data: question_answers; answer, file';
comment on column gate_answer.file is 'personal data: question_answers; name';
comment on column "order".data is 'personal data: attendee_info, order_emails, phone_numbers, invoice_addresses, question_answers, kept; email, phone, customer, invoice_address; of positions attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, answers; country and state of positions are kept';
comment on column position.state is 'personal data: attendee_info, order_emails, invoice_addresses, question_answers, kept; attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, answers, order.email, order.invoice_name; country and state are kept';
comment on column reusable_medium.data is 'personal data: kept; customer, notes, info: media belong to no event';

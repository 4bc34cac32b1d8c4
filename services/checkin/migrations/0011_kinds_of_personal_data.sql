-- Why: an erasure is of kinds of personal data; what declares them says which, and what no erasure touches is called kept.
comment on column given_answer.state is 'personal data: question_answers; answer, file';
comment on column position.attendee_name is 'personal data: attendee_info';
comment on column position.sort_name is 'personal data: attendee_info';
comment on column position.order_email is 'personal data: order_emails';
comment on column position.search_text is 'personal data: attendee_info, order_emails, invoice_addresses; names, e-mail addresses and companies of attendee, order and invoice';
comment on column position.state is 'personal data: attendee_info, order_emails, invoice_addresses, question_answers, kept; attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, answers, order.email, order.invoice_name; country and state are kept';
comment on column scan.explanation is 'personal data: attendee_info; whatever somebody typed at the gate';
comment on column scan.raw_code is 'personal data: attendee_info; whatever was held to a scanner';

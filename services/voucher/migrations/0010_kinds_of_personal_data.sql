-- Why: an erasure is of kinds of personal data; what declares them says which, and what no erasure touches is called kept.
comment on column voucher.comment is 'personal data: waiting_list, kept; with the tag waiting-list, the e-mail address and the name of a guest; otherwise what the organizer noted, which is kept';

-- Why: what the erasure of the waiting list masks is found by the tag of its vouchers.
comment on column voucher.comment is 'personal data: what the organizer noted; with the tag waiting-list, the e-mail address and the name of a guest';

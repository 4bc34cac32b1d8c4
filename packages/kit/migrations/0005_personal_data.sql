-- Why: what facts and answers hold of people must be found when it is to be erased.
comment on column outbox.payload is 'personal data: what its topic declares, until it is published';
comment on column dead_letter.payload is 'personal data: what its topic declares, until the fact is replayed or forgotten';
comment on column answered_request.response is 'personal data: whatever the answer showed, for some days';

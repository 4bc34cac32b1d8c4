-- Why: an erasure must find the answers to requests that show data of its event.
alter table answered_request add column organizer text collate "C", add column event text collate "C";

-- Kinds of personal data, then the reason. What passes by itself is called kept.
comment on column outbox.payload is 'personal data: kept; what its topic declares, until it is published';
comment on column dead_letter.payload is 'personal data: kept; what its topic declares, until the fact is replayed, forgotten or erased with its event';
comment on column answered_request.response is 'personal data: kept; whatever the answer showed, for some days, or until it is erased with its event';
comment on column work.payload is 'personal data: kept; whatever the kind of work needs, until it has ended';
comment on column work.result is 'personal data: kept; whatever the kind of work makes, until it expires';

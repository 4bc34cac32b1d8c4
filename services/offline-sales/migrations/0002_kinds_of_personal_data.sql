-- Why: an erasure is of kinds of personal data; what no erasure touches is called kept.
comment on column batch.comment is 'personal data: kept; what the organizer noted';

-- Why: a client that heard no answer sends its request again under the same key,
-- and gets what the first one got, whatever has become of this process meanwhile.

create table kept_answer (
  -- Whose key it is: no credential meets the keys of another.
  caller text not null,
  key text not null,
  -- SHA-256 of method, address, type and body: a key stands for one request.
  request_hash bytea not null,
  -- Under which services know the request again.
  request_id uuid not null default gen_random_uuid(),
  -- Rises each time somebody takes the request on; only the last one may keep an answer.
  attempt integer not null default 1,
  -- Until then somebody is at work on it. Later the next repetition takes it on.
  leased_until timestamptz not null,
  -- Null: there is no answer yet.
  status integer,
  headers jsonb,
  body bytea,
  created_at timestamptz not null default now(),
  -- The answer says only that nothing was done: it is kept until the lease ends, some minutes later.
  brief boolean not null default false,
  -- The event whose data the answer may show: the answer is erased with it.
  organizer text,
  event text,
  primary key (caller, key)
);
create index kept_answer_by_time on kept_answer (created_at);
create index kept_answer_brief on kept_answer (created_at) where brief;
create index kept_answer_by_event on kept_answer (organizer, event) where event is not null;
comment on column kept_answer.body is 'personal data: whatever the answer showed, for a day';

-- Why: work that outlives a request (a document, a batch, an erasure) is a row
-- of its service until it has ended and its result has expired. Which state
-- follows which is written in kit/jobs/work-table.ts.
create table work (
  kind text not null,
  -- Given by the caller: enqueued twice under one id, it is one piece of work.
  id text collate "C" not null,
  -- Owners take turns, so that the thousand pieces of one do not hold up the first of another.
  owner text not null,
  state text not null default 'waiting',
  -- The place in line; null: not ready. Of each owner there is one in a turn.
  turn bigint,
  -- When the state ends by itself: a rest, a lease, the time that a result or what is left of it is kept.
  due_at timestamptz,
  -- Raised by each claim: what the holder of an earlier claim writes is refused.
  token integer not null default 0,
  tries integer not null default 0,
  most_tries integer not null,
  keep interval not null,
  payload bytea,
  done bigint,
  total bigint,
  result bytea,
  cause text,
  -- Whether clients may read the cause.
  is_public boolean not null default false,
  traceparent text,
  enqueued_at timestamptz not null default now(),
  primary key (kind, id),
  constraint work_state check (
    state in ('waiting', 'running', 'succeeded', 'failed', 'expired')
    and (turn is not null) = (state = 'waiting' and due_at is null)
    and (payload is not null) = (state in ('waiting', 'running'))
    and (result is not null) = (state = 'succeeded')
  )
);
create index work_in_line on work (kind, turn, enqueued_at) where turn is not null;
create index work_of_owner on work (kind, owner, turn) where state = 'waiting';
create index work_due on work (state, due_at) where due_at is not null;
comment on column work.payload is 'personal data: whatever the kind of work needs, until it has ended';
comment on column work.result is 'personal data: whatever the kind of work makes, until it expires';

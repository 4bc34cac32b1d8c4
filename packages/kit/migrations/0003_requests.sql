-- Why: a request whose answer was lost is repeated under its id. What it has
-- done stands here with its effect, in one transaction, so that repeating it
-- gives the same response and does nothing.
create table answered_request (
  request_id uuid not null,
  -- The path of the RPC: one request may call several.
  rpc text not null,
  -- As it was sent. Null only inside of the transaction that works on it.
  response bytea,
  answered_at timestamptz not null default now(),
  primary key (request_id, rpc)
);
create index answered_request_by_time on answered_request (answered_at);

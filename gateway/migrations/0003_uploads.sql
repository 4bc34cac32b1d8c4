-- Why: a file is sent first and named in a later request, within a day, by whoever sent it.

create table upload (
  -- The file lies in the files store at `uploads/` and this id, and was there before this row.
  id uuid primary key,
  organizer text not null,
  -- The key or device that sent it; nobody else may name it.
  credential_kind text not null check (credential_kind in ('api_key', 'device')),
  credential_id text not null,
  file_name text not null,
  content_type text not null,
  size bigint not null,
  sha256 bytea not null,
  created_at timestamptz not null,
  -- From then on it is as good as gone.
  expires_at timestamptz not null,
  -- Since when a stored answer names it. Null: none does, and it counts against the limits of its sender.
  named_at timestamptz
);
create index upload_by_expiry on upload (expires_at);
create index upload_unnamed on upload (organizer) where named_at is null;

comment on table upload is 'personal data: the files themselves, for instance photographs of people';
comment on column upload.file_name is 'personal data';

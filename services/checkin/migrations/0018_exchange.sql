-- Why: gates exchange tickets for media.
alter table item
  add column media_policy text,
  add column media_type text;

alter table event
  add column reusable_media_usage_enforced boolean not null default false;

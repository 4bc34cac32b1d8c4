-- Why: owners have a limit for the files that their work has made and not lost yet.
alter table work add column bytes bigint not null default 0;

--! no-transaction
-- Why: of a request that is repeated while its first process dies, one file is recorded.
drop index concurrently if exists upload_by_request;
--! next
create unique index concurrently upload_by_request on upload (request_id);

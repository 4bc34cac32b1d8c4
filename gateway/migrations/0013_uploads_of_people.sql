--! no-transaction
-- Why: what the constraint of 0012 says holds for former uploads, too.
alter table upload validate constraint upload_credential_kind_check;

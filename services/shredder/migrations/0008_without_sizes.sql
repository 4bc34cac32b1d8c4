--! breaking
-- Why: nothing reads how large the file of an export is.
alter table export drop column size;

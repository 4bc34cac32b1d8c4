-- Why: what services still hold after an erasure is asked for again, at a pace; a certificate says who asked and when it was exported.
alter table shred_case
  -- When services were asked again.
  add column repeated_at timestamptz,
  -- Why it was refused, for people.
  add column problem text,
  -- When the file of the export was made; null: it was not noted yet.
  add column export_made_at timestamptz,
  -- The kind and the id of the credential that asked; null: it was not noted yet.
  add column requested_by text collate "C";

-- Why: operators ask which devices are silent, behind, or about to run out of battery.
create table device_contact (
  organizer text collate "C" not null,
  device bigint not null,
  seen_at timestamptz not null,
  synced_at timestamptz,
  queue bigint,
  battery bigint,
  primary key (organizer, device)
);

-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readMoment
select (select cluster.system_identifier::text from pg_control_system() as cluster)
       || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
       || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text from pg_stat_archiver as archiver), '')
       || '/' || (select database.oid::text from pg_database as database where database.datname = current_database()) as epoch,
       pg_current_snapshot()::text as snapshot;

-- readChangesBetween
with recursive named (event) as (
  (
    select change.event
      from change
     where change.organizer = $1
     order by change.organizer, change.event
     limit 1)
   union all
  select (
    select change.event
      from change
     where change.organizer = $2 and change.event > named.event
     order by change.organizer, change.event
     limit 1)
    from named
   where named.event is not null),
       now as materialized (select (select cluster.system_identifier::text from pg_control_system() as cluster)
                                   || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
                                   || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text
                                                         from pg_stat_archiver as archiver), '')
                                   || '/' || (select database.oid::text
                                                from pg_database as database where database.datname = current_database()) as epoch),
       moment as materialized (
         select now.epoch, pg_current_snapshot() as snapshot,
                pg_snapshot_xmax($3::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
            and coalesce((select mark.oldest
                            from change_mark as mark
                           where mark.epoch = now.epoch
                           order by mark.epoch, mark.marked_at
                           limit 1) <= pg_snapshot_xmin($4::pg_snapshot), true) as is_kept
           from now
       ), found as (
         select change.event, change.changed_in, change.id, change.kind, change.entity, change.list
           from moment
          cross join named
          cross join lateral (
            select change.event, change.changed_in, change.id, change.kind, change.entity, change.list
              from change
             where change.organizer = $5
               and change.event = named.event
               and (change.changed_in, change.id) > (pg_snapshot_xmin($6::pg_snapshot), -1)
               and change.changed_in < pg_snapshot_xmax(moment.snapshot)
               and pg_visible_in_snapshot(change.changed_in, moment.snapshot)
               and not pg_visible_in_snapshot(change.changed_in, $7::pg_snapshot)
             order by change.organizer, change.event, change.changed_in, change.id
             limit $8) as change
          order by change.changed_in, change.id
          limit $9
       )
select moment.epoch, moment.snapshot::text as snapshot, moment.is_kept as "isKept",
       found.event, found.changed_in::text as "changedIn", found.id, found.kind, found.entity, found.list
  from moment
  left join found on true
 order by found.changed_in, found.id;

-- readChangesBetween, of some events
with recursive named (event) as (select unnest($1::text[])),
       now as materialized (select (select cluster.system_identifier::text from pg_control_system() as cluster)
                                   || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
                                   || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text
                                                         from pg_stat_archiver as archiver), '')
                                   || '/' || (select database.oid::text
                                                from pg_database as database where database.datname = current_database()) as epoch),
       moment as materialized (
         select now.epoch, $2::pg_snapshot as snapshot,
                pg_snapshot_xmax($3::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
            and coalesce((select mark.oldest
                            from change_mark as mark
                           where mark.epoch = now.epoch
                           order by mark.epoch, mark.marked_at
                           limit 1) <= pg_snapshot_xmin($4::pg_snapshot), true) as is_kept
           from now
       ), found as (
         select change.event, change.changed_in, change.id, change.kind, change.entity, change.list
           from moment
          cross join named
          cross join lateral (
            select change.event, change.changed_in, change.id, change.kind, change.entity, change.list
              from change
             where change.organizer = $5
               and change.event = named.event
               and (change.changed_in, change.id) > ($6::xid8, $7)
               and change.changed_in < pg_snapshot_xmax(moment.snapshot)
               and pg_visible_in_snapshot(change.changed_in, moment.snapshot)
               and not pg_visible_in_snapshot(change.changed_in, $8::pg_snapshot)
             order by change.organizer, change.event, change.changed_in, change.id
             limit $9) as change
          order by change.changed_in, change.id
          limit $10
       )
select moment.epoch, moment.snapshot::text as snapshot, moment.is_kept as "isKept",
       found.event, found.changed_in::text as "changedIn", found.id, found.kind, found.entity, found.list
  from moment
  left join found on true
 order by found.changed_in, found.id;

-- markChanges
with moment as (select (select cluster.system_identifier::text from pg_control_system() as cluster)
                       || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
                       || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text from pg_stat_archiver as archiver), '')
                       || '/' || (select database.oid::text
                                    from pg_database as database where database.datname = current_database()) as epoch), deleted as (
  delete from change_mark as mark
   using moment
   where mark.epoch <> moment.epoch
      or mark.marked_at < now() - make_interval(days => $1)
)
insert into change_mark (epoch, oldest)
select moment.epoch,
       case when exists (select from change_mark as mark where mark.epoch = moment.epoch)
            then pg_snapshot_xmin(pg_current_snapshot())
            else '0'::xid8 end
  from moment
    on conflict (epoch, marked_at) do nothing;

-- forgetChanges
delete from change
 where change.ctid = any(array(
   select old.ctid
     from change as old
    where old.changed_in < (select mark.oldest
                              from change_mark as mark
                             where mark.epoch = (select cluster.system_identifier::text from pg_control_system() as cluster)
                                   || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
                                   || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text
                                                         from pg_stat_archiver as archiver), '')
                                   || '/' || (select database.oid::text
                                                from pg_database as database where database.datname = current_database())
                             order by mark.marked_at
                             limit 1)
       or old.changed_in >= pg_snapshot_xmax(pg_current_snapshot())
    limit $1));

import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";

/** What a change is of: the entities of an event, the presence of a ticket on a list, or a medium. */
export type ChangedKind =
  | "event"
  | "subevent"
  | "item"
  | "question"
  | "list"
  | "revoked"
  | "blocked"
  | "ticket"
  | "presence"
  | "medium";

export interface Change {
  readonly event: string;
  readonly changedIn: string;
  readonly id: number;
  readonly kind: ChangedKind;
  /** The id of the entity; of a presence that of the ticket; of the event 0. */
  readonly entity: number;
  readonly list: number | null;
}

export interface Moment {
  readonly epoch: string;
  /** A snapshot, as PostgreSQL writes it. */
  readonly snapshot: string;
}

/**
 * Names the database cluster, its timeline, the time since its last crash, and the database there. Numbers of transactions are of one cluster.
 * A failover or a crash may take the last of them back, so that others get them: those of transactions that were rolled back, or did not wait
 * for their commit. A dump that is restored into another database has rows of other transactions. So snapshots of another epoch say nothing.
 * PostgreSQL resets all statistics when it recovers from a crash, and keeps them in an orderly restart.
 */
export const clusterEpoch = sql`
  (select cluster.system_identifier::text from pg_control_system() as cluster)
  || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text from pg_stat_archiver as archiver), '')
  || '/' || (select database.oid::text from pg_database as database where database.datname = current_database())`;

/** Everything that is committed by now is visible at this moment; everything later will be a change. */
export function readMoment(db: Queryable): Promise<Moment> {
  return db.one(sql`select ${clusterEpoch} as epoch, pg_current_snapshot()::text as snapshot`);
}

export interface ChangesRead extends Moment {
  /** Whether the changes since then are still stored. False also for a moment in the future: the database was restored from an older copy. */
  readonly isKept: boolean;
  /** In order, at most as many as were asked for. */
  readonly changes: readonly Change[];
}

/**
 * Reads the next changes between two snapshots, whose transactions they name: what `since` does not contain and `until` does.
 * So no change is missed, in whatever order transactions began and were committed.
 */
export async function readChangesBetween(
  db: Queryable,
  {
    organizer,
    events,
    since,
    until,
    after,
    most,
  }: {
    readonly organizer: string;
    readonly events: readonly string[] | undefined;
    readonly since: string;
    /** Undefined: now. */
    readonly until: string | undefined;
    readonly after: Pick<Change, "changedIn" | "id"> | undefined;
    readonly most: number;
  },
): Promise<ChangesRead> {
  const place =
    after === undefined ? sql`pg_snapshot_xmin(${since}::pg_snapshot), -1` : sql`${after.changedIn}::xid8, ${after.id}`;
  const rows = await db.many<Moment & { isKept: boolean } & { [P in keyof Change]: Change[P] | null }>(sql`
    with recursive named (event) as (${events === undefined ? noted(organizer) : sql`select unnest(${events}::text[])`}),
    now as materialized (select ${clusterEpoch} as epoch),
    moment as materialized (
      select now.epoch, ${until === undefined ? sql`pg_current_snapshot()` : sql`${until}::pg_snapshot`} as snapshot,
             pg_snapshot_xmax(${since}::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
             and coalesce((select mark.oldest
                             from change_mark as mark
                            where mark.epoch = now.epoch
                            order by mark.epoch, mark.marked_at
                            limit 1) <= pg_snapshot_xmin(${since}::pg_snapshot), true) as is_kept
        from now
    ), found as (
      select change.event, change.changed_in, change.id, change.kind, change.entity, change.list
        from moment
       cross join named
       cross join lateral (
         select change.event, change.changed_in, change.id, change.kind, change.entity, change.list
           from change
          where change.organizer = ${organizer}
            and change.event = named.event
            and (change.changed_in, change.id) > (${place})
            and change.changed_in < pg_snapshot_xmax(moment.snapshot)
            and pg_visible_in_snapshot(change.changed_in, moment.snapshot)
            and not pg_visible_in_snapshot(change.changed_in, ${since}::pg_snapshot)
          order by change.organizer, change.event, change.changed_in, change.id
          limit ${most}) as change
       order by change.changed_in, change.id
       limit ${most}
    )
    select moment.epoch, moment.snapshot::text as snapshot, moment.is_kept as "isKept",
           found.event, found.changed_in::text as "changedIn", found.id, found.kind, found.entity, found.list
      from moment
      left join found on true
     order by found.changed_in, found.id`);
  const [first] = rows;
  if (first === undefined) throw new Error("a moment is always read");
  const { epoch: of, snapshot, isKept } = first;
  return { epoch: of, snapshot, isKept, changes: rows.filter((row): row is typeof row & Change => row.event !== null) };
}

/** The events of an organizer that have changes, also deleted ones: one step in the index for each. */
function noted(organizer: string): Sql {
  const next = (condition: Sql) => sql`
        select change.event
          from change
         where change.organizer = ${organizer}${condition}
         order by change.organizer, change.event
         limit 1`;
  return sql`
      (${next(sql``)})
       union all
      select (${next(sql` and change.event > named.event`)})
        from named
       where named.event is not null`;
}

/**
 * Marks this moment, and forgets marks that are older than `keptDays`: what the oldest one contains is no longer needed. The first mark of an
 * epoch contains nothing.
 */
export async function markChanges(db: Queryable, { keptDays }: { readonly keptDays: number }): Promise<void> {
  await db.run(sql`
    with moment as (select ${clusterEpoch} as epoch), deleted as (
      delete from change_mark as mark
       using moment
       where mark.epoch <> moment.epoch
          or mark.marked_at < now() - make_interval(days => ${keptDays})
    )
    insert into change_mark (epoch, oldest)
    select moment.epoch,
           case when exists (select from change_mark as mark where mark.epoch = moment.epoch)
                then pg_snapshot_xmin(pg_current_snapshot())
                else '0'::xid8 end
      from moment
        on conflict (epoch, marked_at) do nothing`);
}

export const mostForgotten = 10_000;

/** Deletes changes that no reader needs, and those of another cluster, which a restore brought; returns their number. */
export function forgetChanges(db: Queryable): Promise<number> {
  return db.run(sql`
    delete from change
     where change.ctid = any(array(
             select old.ctid
               from change as old
              where old.changed_in < (select mark.oldest
                                        from change_mark as mark
                                       where mark.epoch = ${clusterEpoch}
                                       order by mark.marked_at
                                       limit 1)
                 or old.changed_in >= pg_snapshot_xmax(pg_current_snapshot())
              limit ${mostForgotten}))`);
}

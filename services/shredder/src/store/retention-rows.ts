import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";

/** What an organizer has set. Instants are microseconds since 1970. */
export interface Retention {
  readonly organizer: string;
  readonly days: number;
  readonly kinds: readonly string[];
  readonly changedAt: number;
  /** When the organizer was created that has set it. */
  readonly organizerCreatedAt: number;
}

const columns = sql`
  retention.organizer, retention.days, retention.kinds, retention.changed_at as "changedAt",
  retention.organizer_created_at as "organizerCreatedAt"`;

/** Finds what an organizer has set; undefined: nothing. */
export function findRetention(db: Queryable, organizer: string): Promise<Retention | undefined> {
  return db.maybeOne<Retention>(sql`select ${columns} from retention where retention.organizer = ${organizer}`);
}

/** Stores what an organizer sets. What it has set before is no longer announced, unless it is the same. */
export async function setRetention(
  tx: Tx,
  row: Omit<Retention, "changedAt"> & { readonly instance: string },
): Promise<Retention> {
  const changed = await tx.run(sql`
    insert into retention as kept (organizer, days, kinds, instance, organizer_created_at)
    values (${row.organizer}, ${row.days}, ${row.kinds}::text[], ${row.instance},
            ${toTimestamp(row.organizerCreatedAt)}::timestamptz)
        on conflict (organizer) do update
       set days = excluded.days, kinds = excluded.kinds, instance = excluded.instance,
           organizer_created_at = excluded.organizer_created_at, changed_at = clock_timestamp(),
           round_after = '', round_at = clock_timestamp()
     where (kept.days, kept.kinds, kept.organizer_created_at)
           is distinct from (excluded.days, excluded.kinds, excluded.organizer_created_at)`);
  if (changed > 0)
    await tx.run(sql`delete from announced_erasure where announced_erasure.organizer = ${row.organizer}`);
  return tx.one<Retention>(sql`select ${columns} from retention where retention.organizer = ${row.organizer}`);
}

/** Deletes what an organizer has set, and what is announced of it. */
export async function deleteRetention(db: Queryable, organizer: string): Promise<void> {
  await db.run(sql`delete from retention where retention.organizer = ${organizer}`);
}

const isAsFound = ({ organizer, changedAt }: Retention) => sql`
  retention.organizer = ${organizer} and retention.changed_at = ${toTimestamp(changedAt)}::timestamptz`;

/** Deletes what a former organizer has set; false: somebody else has done so, or the present one has set something. */
export async function deleteForeign(db: Queryable, found: Retention): Promise<boolean> {
  return (await db.run(sql`delete from retention where ${isAsFound(found)}`)) > 0;
}

/** A page of events that is to be read for the announcements of an organizer. */
export interface Round extends Retention {
  /** The name of the event that it begins behind. */
  readonly after: string;
  readonly now: number;
}

/** Finds the next page that is to be read. */
export function nextRound(db: Queryable): Promise<Round | undefined> {
  return db.maybeOne<Round>(sql`
    select ${columns}, retention.round_after as after, clock_timestamp() as now
      from retention
     where retention.round_at <= now()
     order by retention.round_at
     limit 1`);
}

/** Neither has somebody else read the page, nor has the setting changed. */
const isAsRead = ({ organizer, changedAt, after }: Round) => sql`
  retention.organizer = ${organizer}
  and retention.changed_at = ${toTimestamp(changedAt)}::timestamptz
  and retention.round_after = ${after}
  and retention.round_at <= now()`;

/** Goes on to the next page; false: somebody else has done so, or the setting has changed. The setting stays locked. */
export async function turnPage(
  tx: Queryable,
  round: Round,
  { next, roundMinutes }: { readonly next: string; readonly roundMinutes: number },
): Promise<boolean> {
  const turned = await tx.run(sql`
    update retention
       set round_after = ${next},
           round_at = clock_timestamp() + make_interval(mins => case when ${next} = '' then ${roundMinutes} else 0 end)
     where ${isAsRead(round)}`);
  return turned > 0;
}

/** Puts off a page that cannot be read, behind those of other organizers. */
export async function putOffRound(
  db: Queryable,
  round: Round,
  { minutes }: { readonly minutes: number },
): Promise<void> {
  await db.run(sql`
    update retention
       set round_at = clock_timestamp() + make_interval(mins => ${minutes})
     where ${isAsRead(round)}`);
}

/** Reads the clock of the database, in microseconds since 1970. */
export function readClock(db: Queryable): Promise<{ readonly now: number }> {
  return db.one(sql`select clock_timestamp() as now`);
}

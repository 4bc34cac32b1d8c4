import { type EventKey, eventKey } from "@tessera/events/entity-key";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { sql } from "@tessera/kit/pg/sql";
import { instant, rowsAs, text } from "@tessera/kit/pg/table";
import type { Announced, Announcement, Progress } from "../domain/retention.ts";
import { casesOf } from "./present-cases.ts";
import type { Round } from "./retention-rows.ts";

/** An erasure that is announced, with what its organizer has set. Instants are microseconds since 1970. */
export interface AnnouncedErasure extends EventKey, Announcement, Progress {
  readonly days: number;
  readonly kinds: readonly string[];
  readonly instance: string;
  readonly now: number;
}

const announced = sql`
  select announced_erasure.organizer, announced_erasure.event, announced_erasure.ended_at as "endedAt",
         announced_erasure.announced_at as "announcedAt", announced_erasure.due_at as "dueAt", announced_erasure.problem,
         announced_erasure.export, announced_erasure.shred_case as "case", retention.days, retention.kinds,
         retention.instance, clock_timestamp() as now
    from announced_erasure
    join retention
      on retention.organizer = announced_erasure.organizer`;

const named = ({ organizer, event }: EventKey) => sql`
  announced_erasure.organizer = ${organizer} and announced_erasure.event = ${event}`;

/** Reads what is known of the events of a page. */
export async function findKnown(
  tx: Queryable,
  organizer: string,
  events: readonly string[],
): Promise<ReadonlyMap<string, Announced>> {
  const rows = await tx.many<Announced & { readonly event: string }>(sql`
    select announced_erasure.event, announced_erasure.ended_at as "endedAt", announced_erasure.announced_at as "announcedAt"
      from announced_erasure
     where announced_erasure.organizer = ${organizer}
       and announced_erasure.event = any(${events}::text[])`);
  return new Map(rows.map((row) => [row.event, row]));
}

/** Finds those events whose kinds were all erased by one case, which was requested after their end. */
export async function findErased(
  tx: Queryable,
  { organizer, kinds }: Pick<Round, "organizer" | "kinds">,
  events: readonly { readonly event: string; readonly endedAt: number }[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.many<{ event: string }>(sql`
    select ended.event
      from ${rowsAs("ended", { event: text, endedAt: instant }, events)}
     where exists (select
                     from shred_case
                    where ${casesOf({ organizer, event: sql`ended.event` })}
                      and shred_case.kinds @> ${kinds}::text[]
                      and shred_case.requested_at > ended.ended_at
                      and shred_case.erased_at is not null)`);
  return new Set(rows.map(({ event }) => event));
}

/** Stores the announcements of a page: those of other events between its first and its last name go. */
export async function storePage(
  tx: Queryable,
  { organizer, after }: Pick<Round, "organizer" | "after">,
  {
    next,
    rows,
  }: {
    readonly next: string;
    readonly rows: readonly (Announcement & { readonly event: string; readonly problem: string | null })[];
  },
): Promise<void> {
  await tx.run(sql`
    delete from announced_erasure
     where announced_erasure.organizer = ${organizer}
       and announced_erasure.event > ${after}
       and (${next} = '' or announced_erasure.event <= ${next})
       and announced_erasure.event <> all(${rows.map(({ event }) => event)}::text[])`);
  const columns = {
    ...eventKey,
    endedAt: instant,
    announcedAt: instant,
    dueAt: instant,
    problem: text.orNull,
  };
  await tx.run(sql`
    insert into announced_erasure as kept (organizer, event, ended_at, announced_at, due_at, problem)
    select sent.organizer, sent.event, sent.ended_at, sent.announced_at, sent.due_at, sent.problem
      from ${rowsAs(
        "sent",
        columns,
        rows.map((row) => ({ organizer, ...row })),
      )}
     order by sent.event
        on conflict (organizer, event) do update
       set ended_at = excluded.ended_at,
           announced_at = excluded.announced_at,
           due_at = excluded.due_at,
           problem = excluded.problem,
           next_at = case when kept.problem is not null and excluded.problem is null then clock_timestamp()
                          else kept.next_at end`);
}

export function findBegun(db: Queryable): Promise<AnnouncedErasure[]> {
  return db.many<AnnouncedErasure>(sql`
    ${announced}
     where announced_erasure.export is not null
     order by announced_erasure.organizer, announced_erasure.event`);
}

/** Finds the next erasure that is due, of an organizer of which none has begun. */
export function findDue(db: Queryable): Promise<AnnouncedErasure | undefined> {
  return db.maybeOne<AnnouncedErasure>(sql`
    ${announced}
     where announced_erasure.export is null
       and announced_erasure.due_at <= now()
       and announced_erasure.next_at <= now()
       and not exists (select
                         from announced_erasure as begun
                        where begun.organizer = announced_erasure.organizer
                          and begun.export is not null)
     order by announced_erasure.due_at
     limit 1`);
}

const beginLock = declareLock("tessera retention");

/** As it was read: what somebody else has done since stays. */
const unchanged = (of: EventKey & Pick<Progress, "export" | "case">) => sql`
  ${named(of)}
  and announced_erasure.export is not distinct from ${of.export}::uuid
  and announced_erasure.shred_case is not distinct from ${of.case}::uuid`;

/** Locks an erasure as it was read; false: it has gone on, or is no longer announced. */
export async function lock(tx: Queryable, of: AnnouncedErasure): Promise<boolean> {
  return (await tx.run(sql`select from announced_erasure where ${unchanged(of)} for update`)) > 0;
}

/** How many erasures are being made. One that was requested long ago waits for a service that is away, or for help, and delays no other. */
export async function countBusy(db: Queryable): Promise<number> {
  const { busy } = await db.one<{ busy: number }>(sql`
    select count(*) as busy
      from announced_erasure
     where announced_erasure.export is not null
       and not exists (select
                         from shred_case
                        where ${casesOf({ organizer: sql`announced_erasure.organizer`, event: sql`announced_erasure.event` })}
                          and shred_case.id = announced_erasure.shred_case
                          and shred_case.requested_at < now() - interval '1 hour')`);
  return busy;
}

/** Whether another erasure may begin: only so many do at a time, and one of each organizer. Others wait until the transaction ends. */
export async function mayBegin(
  tx: Queryable,
  { organizer }: EventKey,
  { most }: { readonly most: number },
): Promise<boolean> {
  await takeLocks(tx, { alone: [beginLock()] });
  const { mine } = await tx.one<{ mine: number }>(sql`
    select count(*) as mine
      from announced_erasure
     where announced_erasure.organizer = ${organizer}
       and announced_erasure.export is not null`);
  return mine === 0 && (await countBusy(tx)) < most;
}

/** Notes the export of an erasure, or its case, which is locked. */
export async function noteBegun(
  tx: Queryable,
  of: EventKey,
  { export: exported, case: opened }: Pick<Progress, "export" | "case">,
): Promise<void> {
  await tx.run(sql`
    update announced_erasure
       set export = ${exported}::uuid, shred_case = ${opened}::uuid, problem = null
     where ${named(of)}`);
}

/** Begins an erasure again later: after a minute at first, and after an hour at last. */
export async function putOff(db: Queryable, of: AnnouncedErasure): Promise<void> {
  await db.run(sql`
    update announced_erasure
       set export = null, shred_case = null, tries = announced_erasure.tries + 1,
           next_at = clock_timestamp() + make_interval(mins => least(60, 2 ^ least(announced_erasure.tries, 6))::integer)
     where ${unchanged(of)}`);
}

/** Notes what keeps an event from being erased. It is asked again in an hour. */
export async function block(db: Queryable, of: AnnouncedErasure, problem: string): Promise<void> {
  await db.run(sql`
    update announced_erasure
       set export = null, problem = ${problem}, next_at = clock_timestamp() + interval '1 hour'
     where ${unchanged(of)}`);
}

/** Announces an erasure for another time: its event ends at another one. */
export async function announceAgain(db: Queryable, of: AnnouncedErasure, later: Announcement): Promise<void> {
  await db.run(sql`
    update announced_erasure
       set export = null, problem = null, ended_at = ${toTimestamp(later.endedAt)}::timestamptz,
           announced_at = ${toTimestamp(later.announcedAt)}::timestamptz, due_at = ${toTimestamp(later.dueAt)}::timestamptz
     where ${unchanged(of)}`);
}

/** Takes back an announcement: it is done, or there is nothing to erase. */
export async function takeBack(db: Queryable, of: AnnouncedErasure): Promise<void> {
  await db.run(sql`delete from announced_erasure where ${unchanged(of)}`);
}

/** Takes back what was announced of events before they were deleted at these instants, in microseconds since 1970. */
export async function takeBackOfGone(
  tx: Queryable,
  events: readonly (EventKey & { readonly at: number })[],
): Promise<void> {
  if (events.length === 0) return;
  await tx.run(sql`
    delete from announced_erasure
     using ${rowsAs("gone", { ...eventKey, at: instant }, events)}
     where announced_erasure.organizer = gone.organizer
       and announced_erasure.event = gone.event
       and announced_erasure.announced_at < gone.at`);
}

/** Tells whether a case is that of an erasure that is still announced. */
export async function isAnnounced(db: Queryable, of: EventKey & { readonly id: string }): Promise<boolean> {
  return (
    (await db.run(sql`
      select from announced_erasure where ${named(of)} and announced_erasure.shred_case = ${of.id}::uuid`)) > 0
  );
}

const isShown = (organizer: string, before: number) => sql`
  announced_erasure.organizer = ${organizer} and announced_erasure.due_at <= ${toTimestamp(before)}::timestamptz`;

/** Counts the erasures of an organizer that are due before an instant. */
export async function countUpcoming(
  db: Queryable,
  { organizer, before }: { readonly organizer: string; readonly before: number },
): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count from announced_erasure where ${isShown(organizer, before)}`);
  return count;
}

/** Reads a page of them. */
export function pageUpcoming(
  db: Queryable,
  page: { readonly organizer: string; readonly before: number; readonly limit: number; readonly offset: number },
): Promise<AnnouncedErasure[]> {
  return db.many<AnnouncedErasure>(sql`
    ${announced}
     where ${isShown(page.organizer, page.before)}
     order by announced_erasure.due_at, announced_erasure.event
     limit ${page.limit}
    offset ${page.offset}`);
}

/** Finds the erasures that have been blocked for so many days after they were due, the oldest first. */
export function findBlocked(
  db: Queryable,
  { days, most }: { readonly days: number; readonly most: number },
): Promise<(EventKey & { readonly problem: string; readonly seconds: number })[]> {
  return db.many(sql`
    select announced_erasure.organizer, announced_erasure.event, announced_erasure.problem,
           extract(epoch from now() - announced_erasure.due_at)::float8 as seconds
      from announced_erasure
     where announced_erasure.export is null
       and announced_erasure.problem is not null
       and announced_erasure.due_at < now() - make_interval(days => ${days})
     order by announced_erasure.due_at, announced_erasure.organizer, announced_erasure.event
     limit ${most}`);
}

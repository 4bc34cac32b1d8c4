import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, double, instant, rowsAs, text } from "@tessera/kit/pg/table";
import type { AlarmSubject, HeldAlarm } from "../domain/alarm.ts";
import type { EntityKey, EventKey } from "./keys.ts";

export interface StoredAlarm extends AlarmSubject, EntityKey {
  readonly raisedAt: number;
  readonly endedAt: number | null;
  readonly acknowledgedAt: number | null;
  readonly acknowledgedBy: string | null;
  readonly since: number | null;
  readonly measured: number | null;
  readonly usual: number | null;
}

export const alarmColumns = sql`
  alarm.organizer, alarm.event, alarm.id, alarm.kind, alarm.gate, alarm.device, alarm.list,
  alarm.raised_at as "raisedAt", alarm.ended_at as "endedAt", alarm.acknowledged_at as "acknowledgedAt",
  alarm.acknowledged_by as "acknowledgedBy", alarm.since_at as since, alarm.measured, alarm.usual`;

export function readOpenAlarms(db: Queryable, { organizer, event }: EventKey): Promise<StoredAlarm[]> {
  return db.many<StoredAlarm>(sql`
    select ${alarmColumns}
      from alarm
     where alarm.organizer = ${organizer}
       and alarm.event = ${event}
       and alarm.ended_at is null
     order by alarm.acknowledged_at is not null, alarm.id desc`);
}

const raisedColumns = {
  ...{ kind: text, gate: bigint.orNull, device: bigint.orNull, list: bigint.orNull },
  ...{ since: instant.orNull, measured: double.orNull, usual: double.orNull },
};

/**
 * Raises alarms; returns those that were not open. The event is locked against deletion, which takes its alarms along.
 * In the order of what they are about, against deadlocks.
 */
export async function raiseAlarms(
  tx: Queryable,
  { organizer, event }: EventKey,
  alarms: readonly HeldAlarm[],
): Promise<StoredAlarm[]> {
  if (alarms.length === 0) return [];
  return tx.many<StoredAlarm>(sql`
    with held as materialized (
      select event.organizer, event.event
        from event
       where event.organizer = ${organizer}
         and event.event = ${event}
         for key share
    )
    insert into alarm (organizer, event, kind, gate, device, list, since_at, measured, usual)
    select held.organizer, held.event, raised.kind, raised.gate, raised.device, raised.list, raised.since_at,
           raised.measured, raised.usual
      from held
     cross join ${rowsAs("raised", raisedColumns, alarms)}
     order by raised.kind, raised.gate, raised.device, raised.list
        on conflict (organizer, event, kind, gate, device, list) where ended_at is null do nothing
    returning ${alarmColumns}`);
}

/** Ends alarms; returns those that were open. In the order of their ids, against deadlocks. */
export async function endAlarms(
  tx: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<StoredAlarm[]> {
  if (ids.length === 0) return [];
  return tx.many<StoredAlarm>(sql`
    with held as materialized (
      select alarm.id
        from alarm
       where alarm.organizer = ${organizer}
         and alarm.event = ${event}
         and alarm.id = any(${ids}::bigint[])
         and alarm.ended_at is null
       order by alarm.id
         for no key update
    )
    update alarm
       set ended_at = now()
      from held
     where alarm.organizer = ${organizer}
       and alarm.event = ${event}
       and alarm.id = held.id
    returning ${alarmColumns}`);
}

/** Acknowledges an alarm; undefined: it does not exist, or was acknowledged before. */
export function acknowledge(
  tx: Queryable,
  { organizer, event, id }: EntityKey,
  { by }: { readonly by: string },
): Promise<StoredAlarm | undefined> {
  return tx.maybeOne<StoredAlarm>(sql`
    update alarm
       set acknowledged_at = now(), acknowledged_by = ${by}
     where alarm.organizer = ${organizer}
       and alarm.event = ${event}
       and alarm.id = ${id}
       and alarm.acknowledged_at is null
    returning ${alarmColumns}`);
}

export function findAlarm(db: Queryable, { organizer, event, id }: EntityKey): Promise<StoredAlarm | undefined> {
  return db.maybeOne<StoredAlarm>(sql`
    select ${alarmColumns}
      from alarm
     where alarm.organizer = ${organizer}
       and alarm.event = ${event}
       and alarm.id = ${id}`);
}

/** Which alarms of an event are wanted. Undefined conditions do not count. */
export interface AlarmFilter extends EventKey {
  readonly open?: boolean | undefined;
  readonly kind?: string | undefined;
  readonly gate?: number | undefined;
}

function matching({ organizer, event, open, kind, gate }: AlarmFilter) {
  return sql`
        alarm.organizer = ${organizer}
    and alarm.event = ${event}
    and (${open ?? null}::boolean is null or (alarm.ended_at is null) = ${open ?? null})
    and (${kind ?? null}::text is null or alarm.kind = ${kind ?? null})
    and (${gate ?? null}::bigint is null or alarm.gate = ${gate ?? null})`;
}

export async function countAlarms(db: Queryable, filter: AlarmFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from alarm
     where ${matching(filter)}`);
  return count;
}

/** Reads one page of alarms, the newest first. */
export function pageAlarms(
  db: Queryable,
  filter: AlarmFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<StoredAlarm[]> {
  return db.many<StoredAlarm>(sql`
    select ${alarmColumns}
      from alarm
     where ${matching(filter)}
     order by alarm.id desc
     limit ${limit} offset ${offset}`);
}

/** Deletes the alarms of an event that is being deleted. The event is locked first, so that none is raised behind it. */
export async function removeAlarmsOf(tx: Queryable, { organizer, event }: EventKey): Promise<void> {
  await tx.run(sql`
    select true
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}
       for update`);
  await tx.run(sql`
    delete from alarm
     where alarm.organizer = ${organizer}
       and alarm.event = ${event}`);
}

export const mostOldAlarms = 1000;

/** Deletes alarms that ended long ago; returns their number. */
export function deleteOldAlarms(db: Queryable, { days }: { readonly days: number }): Promise<number> {
  return db.run(sql`
    delete from alarm
     where alarm.ctid = any(array(
             select old.ctid
               from alarm as old
              where old.ended_at < now() - make_interval(days => ${days})
              order by old.ended_at
              limit ${mostOldAlarms}
                for update skip locked))`);
}

export interface OpenCount {
  readonly kind: string;
  readonly open: number;
  readonly unacknowledged: number;
}

export function countOpenAlarms(db: Queryable): Promise<OpenCount[]> {
  return db.many<OpenCount>(sql`
    select alarm.kind, count(*) as open, count(*) filter (where alarm.acknowledged_at is null) as unacknowledged
      from alarm
     where alarm.ended_at is null
     group by alarm.kind`);
}

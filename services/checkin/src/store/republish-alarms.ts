import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";
import { alarmColumns, type StoredAlarm } from "./stored-alarms.ts";

/** The id of the last alarm that was begun. */
export async function lastAlarmId(db: Queryable): Promise<number> {
  const { id } = await db.one<{ id: number }>(sql`select alarm_id.last_value as id from alarm_id`);
  return id;
}

export async function countAllAlarms(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from alarm`);
  return count;
}

/** Reads the next alarms after an alarm, in the order of the primary key, up to an id. Their changes wait until they are published. */
export function nextAlarms(
  tx: Queryable,
  page: { readonly after: EntityKey | undefined; readonly upTo: number; readonly limit: number },
): Promise<StoredAlarm[]> {
  const { after } = page;
  return tx.many<StoredAlarm>(sql`
    select ${alarmColumns}
      from alarm
     where (alarm.organizer, alarm.event, alarm.id)
           > (${after?.organizer ?? ""}, ${after?.event ?? ""}, ${after?.id ?? 0}::bigint)
       and alarm.id <= ${page.upTo}
     order by alarm.organizer, alarm.event, alarm.id
     limit ${page.limit}
       for share`);
}

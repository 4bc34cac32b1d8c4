import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

/** What checkin keeps of a date in an event series. */
export interface SubeventCopy extends EntityKey {
  readonly revision: number;
  readonly name: Readonly<Record<string, string>>;
  readonly active: boolean;
  readonly dateFrom: number | null;
  readonly dateTo: number | null;
  readonly dateAdmission: number | null;
  /** The subevent resource in JSON. */
  readonly document: string;
}

/** Finds the name of a date. */
export async function findSubevent(
  db: Queryable,
  { organizer, event, id }: EntityKey,
): Promise<{ readonly name: Readonly<Record<string, string>> } | undefined> {
  return db.maybeOne<{ name: Record<string, string> }>(sql`
    select subevent.name
      from subevent
     where subevent.organizer = ${organizer}
       and subevent.event = ${event}
       and subevent.id = ${id}`);
}

/** Takes over dates, unless a newer state is here already. */
export async function putSubevents(db: Queryable, subevents: readonly SubeventCopy[]): Promise<void> {
  if (subevents.length === 0) return;
  await db.run(sql`
    insert into subevent (organizer, event, id, revision, name, active, date_from_at, date_to_at, date_admission_at,
                          document)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.name, sent.active, sent.date_from_at, sent.date_to_at,
           sent.date_admission_at, sent.document
      from unnest(${subevents.map((subevent) => subevent.organizer)}::text[],
                  ${subevents.map((subevent) => subevent.event)}::text[],
                  ${subevents.map((subevent) => subevent.id)}::bigint[],
                  ${subevents.map((subevent) => subevent.revision)}::bigint[],
                  ${subevents.map((subevent) => JSON.stringify(subevent.name))}::jsonb[],
                  ${subevents.map((subevent) => subevent.active)}::boolean[],
                  ${subevents.map((subevent) => toNullableTimestamp(subevent.dateFrom))}::timestamptz[],
                  ${subevents.map((subevent) => toNullableTimestamp(subevent.dateTo))}::timestamptz[],
                  ${subevents.map((subevent) => toNullableTimestamp(subevent.dateAdmission))}::timestamptz[],
                  ${subevents.map((subevent) => subevent.document)}::jsonb[])
           as sent (organizer, event, id, revision, name, active, date_from_at, date_to_at, date_admission_at, document)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, name = excluded.name, active = excluded.active,
               date_from_at = excluded.date_from_at, date_to_at = excluded.date_to_at,
               date_admission_at = excluded.date_admission_at, document = excluded.document
         where subevent.revision < excluded.revision`);
}

import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { DownloadSettings } from "../domain/downloads.ts";
import type { EventKey } from "./keys.ts";

/** What checkin keeps of an event. */
export interface EventCopy extends EventKey {
  readonly revision: number;
  readonly name: Readonly<Record<string, string>>;
  readonly timezone: string;
  readonly locale: string;
  readonly hasSubevents: boolean;
  readonly dateFrom: number | null;
  readonly dateTo: number | null;
  readonly dateAdmission: number | null;
  readonly downloads: DownloadSettings;
}

/** What handlers ask an event for. */
export type EventInfo = Pick<EventCopy, "name" | "locale" | "hasSubevents" | "downloads">;

interface Row {
  name: Record<string, string>;
  locale: string;
  has_subevents: boolean;
  pdf_enabled: boolean;
  pdf_for_addons: boolean;
  pdf_for_non_admission: boolean;
  pdf_while_pending: boolean;
}

export async function findEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo | undefined> {
  const row = await db.maybeOne<Row>(sql`
    select event.name, event.locale, event.has_subevents,
           event.pdf_enabled, event.pdf_for_addons, event.pdf_for_non_admission, event.pdf_while_pending
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}`);
  if (row === undefined) return undefined;
  return {
    name: row.name,
    locale: row.locale,
    hasSubevents: row.has_subevents,
    downloads: {
      pdfEnabled: row.pdf_enabled,
      addons: row.pdf_for_addons,
      nonAdmission: row.pdf_for_non_admission,
      pending: row.pdf_while_pending,
    },
  };
}

/** Takes over events, unless a newer state is here already. */
export async function putEvents(db: Queryable, events: readonly EventCopy[]): Promise<void> {
  if (events.length === 0) return;
  await db.run(sql`
    insert into event (organizer, event, revision, name, timezone, locale, has_subevents, date_from_at, date_to_at,
                       date_admission_at, pdf_enabled, pdf_for_addons, pdf_for_non_admission, pdf_while_pending)
    select sent.organizer, sent.event, sent.revision, sent.name, sent.timezone, sent.locale, sent.has_subevents,
           sent.date_from_at, sent.date_to_at, sent.date_admission_at, sent.pdf_enabled, sent.pdf_for_addons,
           sent.pdf_for_non_admission, sent.pdf_while_pending
      from unnest(${events.map((event) => event.organizer)}::text[],
                  ${events.map((event) => event.event)}::text[],
                  ${events.map((event) => event.revision)}::bigint[],
                  ${events.map((event) => JSON.stringify(event.name))}::jsonb[],
                  ${events.map((event) => event.timezone)}::text[],
                  ${events.map((event) => event.locale)}::text[],
                  ${events.map((event) => event.hasSubevents)}::boolean[],
                  ${events.map((event) => toNullableTimestamp(event.dateFrom))}::timestamptz[],
                  ${events.map((event) => toNullableTimestamp(event.dateTo))}::timestamptz[],
                  ${events.map((event) => toNullableTimestamp(event.dateAdmission))}::timestamptz[],
                  ${events.map((event) => event.downloads.pdfEnabled)}::boolean[],
                  ${events.map((event) => event.downloads.addons)}::boolean[],
                  ${events.map((event) => event.downloads.nonAdmission)}::boolean[],
                  ${events.map((event) => event.downloads.pending)}::boolean[])
           as sent (organizer, event, revision, name, timezone, locale, has_subevents, date_from_at, date_to_at,
                    date_admission_at, pdf_enabled, pdf_for_addons, pdf_for_non_admission, pdf_while_pending)
        on conflict (organizer, event) do update
           set revision = excluded.revision, name = excluded.name, timezone = excluded.timezone,
               locale = excluded.locale, has_subevents = excluded.has_subevents, date_from_at = excluded.date_from_at,
               date_to_at = excluded.date_to_at, date_admission_at = excluded.date_admission_at,
               pdf_enabled = excluded.pdf_enabled, pdf_for_addons = excluded.pdf_for_addons,
               pdf_for_non_admission = excluded.pdf_for_non_admission, pdf_while_pending = excluded.pdf_while_pending
         where event.revision < excluded.revision`);
}

export async function removeEvents(db: Queryable, keys: readonly EventKey[]): Promise<void> {
  if (keys.length === 0) return;
  await db.run(sql`
    delete from event
     using unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[]) as gone (organizer, event)
     where event.organizer = gone.organizer
       and event.event = gone.event`);
}

import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, copyTable, instant, json, text } from "@tessera/kit/pg/table";
import type { DownloadSettings } from "@tessera/values";
import { fault } from "../faults.ts";
import { type EventKey, eventKey } from "./keys.ts";

export const events = copyTable("event", {
  key: eventKey,
  columns: {
    name: json<Readonly<Record<string, string>>>(),
    timezone: text,
    locale: text,
    hasSubevents: boolean,
    dateFrom: instant.orNull,
    dateTo: instant.orNull,
    dateAdmission: instant.orNull,
    pdfEnabled: boolean,
    pdfForAddons: boolean,
    pdfForNonAdmission: boolean,
    pdfWhilePending: boolean,
    ticketKeys: json<readonly string[]>().orNull,
    reusableMediaUsageEnforced: boolean,
  },
});

/** The fields of an event that handlers use. */
export interface EventInfo {
  readonly name: Readonly<Record<string, string>>;
  readonly locale: string;
  readonly timezone: string;
  readonly hasSubevents: boolean;
  readonly downloads: DownloadSettings;
}

const downloadColumns = sql`
  event.pdf_enabled as "pdfEnabled", event.pdf_for_addons as addons, event.pdf_for_non_admission as "nonAdmission",
  event.pdf_while_pending as pending`;

export async function findEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo | undefined> {
  const row = await db.maybeOne<Omit<EventInfo, "downloads"> & DownloadSettings>(sql`
    select event.name, event.locale, event.timezone, event.has_subevents as "hasSubevents", ${downloadColumns}
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}`);
  if (row === undefined) return undefined;
  const { name, locale, timezone, hasSubevents, ...downloads } = row;
  return { name, locale, timezone, hasSubevents, downloads };
}

export async function findKnownEvents(
  db: Queryable,
  { organizer, events: named }: { readonly organizer: string; readonly events: readonly string[] },
): Promise<string[]> {
  const rows = await db.many<{ event: string }>(sql`
    select event.event
      from event
     where event.organizer = ${organizer}
       and event.event = any(${named}::text[])`);
  return rows.map(({ event }) => event);
}

export async function requireEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo> {
  const found = await findEvent(db, { organizer, event });
  if (found === undefined) {
    throw fault("event_not_found", "There is no such event here, or it has not arrived yet.");
  }
  return found;
}

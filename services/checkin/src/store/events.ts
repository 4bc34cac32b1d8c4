import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, copyTable, instant, json, text } from "@tessera/kit/pg/table";
import type { DownloadSettings } from "../domain/downloads.ts";
import { fault } from "../faults.ts";
import type { EventKey } from "./keys.ts";

/** What checkin keeps of events. */
export const events = copyTable("event", {
  key: { organizer: text, event: text },
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
  },
});

/** What handlers ask an event for. */
export interface EventInfo {
  readonly name: Readonly<Record<string, string>>;
  readonly locale: string;
  readonly hasSubevents: boolean;
  readonly downloads: DownloadSettings;
}

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

/** Finds an event, or says that it is not here. */
export async function requireEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo> {
  const found = await findEvent(db, { organizer, event });
  if (found === undefined) {
    throw fault("event_not_found", "There is no such event here, or it has not arrived yet.");
  }
  return found;
}

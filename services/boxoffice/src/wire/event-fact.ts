import type { EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { EventDocument, EventSettings } from "@tessera/resources/records/event";
import { parseInstant } from "@tessera/values";
import type { StoredEvent } from "../store/events.ts";

/** The settings of an event. Either of its two records may name the time zone; the default is UTC. */
export function settingsOf(
  { data, settings }: Pick<StoredEvent<EventDocument, EventSettings>, "data" | "settings">,
  defaults: EventSettings,
) {
  const all = { ...defaults, ...settings };
  return { ...all, timezone: data.timezone ?? all.timezone ?? "UTC" };
}

/** Writes the published fields of an event. */
export function eventFact(
  organizer: string,
  event: StoredEvent<EventDocument, EventSettings>,
  defaults: EventSettings,
): EventChanged {
  const { data } = event;
  const settings = settingsOf(event, defaults);
  const { timezone } = settings;
  return {
    organizer,
    event: event.slug,
    revision: event.revision,
    name: { ...data.name },
    timezone,
    locale: settings.locale,
    hasSubevents: data.has_subevents,
    dateFrom: toInstant(data.date_from),
    dateTo: toInstant(data.date_to),
    dateAdmission: toInstant(data.date_admission),
    ticketDownload: {
      pdfEnabled: settings.ticketoutput_pdf__enabled,
      addons: settings.ticket_download_addons,
      nonAdmission: settings.ticket_download_nonadm,
      pending: settings.ticket_download_pending,
    },
    // A document of a version that did not know the field has none.
    ticketKeys: { pretixSig1: [...(data.valid_keys?.["pretix_sig1"] ?? [])] },
    reusableMediaUsageEnforced: settings.reusable_media_usage_enforced,
    document: Buffer.from(JSON.stringify({ ...data, timezone })),
  };
}

function toInstant(text: string | null): number | undefined {
  return text === null ? undefined : parseInstant(text);
}

import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { events } from "../store/events.ts";
import { noteGoneEvents, noteOlderEvents } from "../store/gone-events.ts";

const notedEvents: typeof events = {
  ...events,
  async delete(tx, keys) {
    await noteGoneEvents(tx, keys);
    return events.delete(tx, keys);
  },
  async deleteOlder(tx, revision) {
    await noteOlderEvents(tx, revision);
    return events.deleteOlder(tx, revision);
  },
};

/** Keeps our copy of events. Lists of a deleted event stay for a day, unreachable: it may come back. */
export const eventChanged = keepCopy(topics.eventChanged, notedEvents, ({ ticketDownload, ...fact }) => ({
  ...fact,
  pdfEnabled: ticketDownload?.pdfEnabled ?? false,
  pdfForAddons: ticketDownload?.addons ?? false,
  pdfForNonAdmission: ticketDownload?.nonAdmission ?? false,
  pdfWhilePending: ticketDownload?.pending ?? false,
}));

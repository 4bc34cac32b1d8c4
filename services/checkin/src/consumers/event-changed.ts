import { notingGone } from "@tessera/events/gone-events";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { events } from "../store/events.ts";

/** Keeps our copy of events. Lists of a deleted event are unreachable, and stay for a day: it may come back. */
export const eventChanged = keepCopy(
  topics.eventChanged,
  notingGone(events),
  ({ ticketDownload, ticketKeys, ...fact }) => ({
    ...fact,
    reusableMediaUsageEnforced: fact.reusableMediaUsageEnforced ?? false,
    pdfEnabled: ticketDownload?.pdfEnabled ?? false,
    pdfForAddons: ticketDownload?.addons ?? false,
    pdfForNonAdmission: ticketDownload?.nonAdmission ?? false,
    pdfWhilePending: ticketDownload?.pending ?? false,
    ticketKeys: ticketKeys === undefined || ticketKeys.pretixSig1.length === 0 ? null : ticketKeys.pretixSig1,
  }),
);

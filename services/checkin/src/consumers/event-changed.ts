import { endingWith, notingGone } from "@tessera/events/gone-events";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { enqueueWork } from "@tessera/kit/jobs/work";
import { topics } from "@tessera/protos/topics";
import { removeEndedScans } from "../leftovers/ended-scans.ts";
import { events } from "../store/events.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { removeListsOf } from "../store/lists.ts";
import { removeAlarmsOf } from "../store/stored-alarms.ts";

const endingLists = endingWith(events, async (tx, ended) => {
  const { organizer, event, deletedAt } = ended;
  await removeAlarmsOf(tx, { organizer, event });
  if (await removeListsOf(tx, { organizer, event })) await noteListsChanged(tx, { organizer, event });
  const id = `${organizer}/${event}/${deletedAt}`;
  await enqueueWork(tx, removeEndedScans, [{ id, owner: organizer, payload: ended }]);
});

/**
 * Keeps our copy of events. Lists, alarms and scans of a deleted event are deleted with it, because another event may get its name. Data
 * of an event that a rebuild has left out is unreachable, and stays for a day, because the event may come back.
 */
export const eventChanged = keepCopy(
  topics.eventChanged,
  notingGone(endingLists),
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

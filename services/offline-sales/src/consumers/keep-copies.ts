import { endingWith, notingGone } from "@tessera/events/gone-events";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { endWork, enqueueWork } from "@tessera/kit/jobs/work";
import { topics } from "@tessera/protos/topics";
import { cancelEnded } from "../cancel-work.ts";
import { makeBatch, makingsOf } from "../make-work.ts";
import { events } from "../store/events.ts";
import { deleteBatches } from "../store/stored-batches.ts";

const endingBatches = endingWith(events, async (tx, { deletedAt, ...event }) => {
  const ended = await endWork(tx, makeBatch, { prefix: makingsOf(event), before: deletedAt });
  // A job may have stored its batch before this service heard of the deletion.
  const late = ended.flatMap(({ result }) => result?.id ?? []);
  await deleteBatches(tx, event, { madeBefore: deletedAt, orIds: late });
  if (ended.length === 0) return;
  // Before this service heard of the deletion, a job may have sold tickets in the event that got the name.
  const sales = ended.map(({ id }) => id.slice(makingsOf(event).length));
  const id = `${makingsOf(event)}${deletedAt}`;
  await enqueueWork(tx, cancelEnded, [{ id, owner: event.organizer, payload: { ...event, sales } }]);
});

/**
 * Keeps our copy of events. With a deleted event its batches go, whose orders went with it. Those of an event that a rebuild has
 * left out stay for a day, unreachable: it may come back.
 */
export const eventChanged = keepCopy(topics.eventChanged, notingGone(endingBatches), (fact) => fact);

import { endingErasures, endingWith } from "@tessera/events/gone-events";
import { deleteDeadLettersOf } from "@tessera/kit/bus/dead-letter";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { recordFeed, topics } from "@tessera/protos/topics";
import { announceChange, type Forgetful, forgetAccess } from "../access/change-notice.ts";
import { events } from "../store/events.ts";
import { noteDeleted } from "../store/kept-answers.ts";

/** A parked record of an event that is deleted would be replayed into another event with its name. */
const endingRecords = endingWith(events, async (tx, { deletedAt, ...event }) => {
  await deleteDeadLettersOf(tx, event, [recordFeed.name], { parkedBefore: deletedAt });
});

const copies = endingErasures(endingRecords);

/** With an event that is deleted what is kept about it ends. A rebuild's sweep proves no deletion: a job looks after it. */
const endingAnswers: typeof copies = {
  ...copies,
  async delete(tx, keys, deletedAt) {
    await noteDeleted(tx, keys);
    return copies.delete(tx, keys, deletedAt);
  },
};

/** Keeps our copy of which events there are. */
export const eventChanged = keepCopy(topics.eventChanged, endingAnswers, (fact) => fact, {
  afterChange: announceChange,
  afterDelivery: (deps: Forgetful) => forgetAccess(deps),
});

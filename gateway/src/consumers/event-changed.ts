import { endingErasures, endingWith } from "@tessera/events/gone-events";
import { keysOf } from "@tessera/events/personal-data/erased-kinds";
import { deleteDeadLettersOf } from "@tessera/kit/bus/dead-letter";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { recordFeed, topics } from "@tessera/protos/topics";
import { announceChange, type Forgetful } from "../access/change-notice.ts";
import { events } from "../store/events.ts";
import { noteDeleted } from "../store/kept-answers.ts";

/** A parked record of a deleted event would be replayed into another event with its name. */
const endingRecords = endingWith(events, async (tx, { deletedAt, ...event }) => {
  await deleteDeadLettersOf(tx, keysOf(event), [recordFeed.name], { parkedBefore: deletedAt });
});

const copies = endingErasures(endingRecords);

/** Kept answers of a deleted event end with it. The sweep of a rebuild proves no deletion: a job checks later. */
const endingAnswers: typeof copies = {
  ...copies,
  async delete(tx, keys, deletedAt) {
    await noteDeleted(tx, keys);
    return copies.delete(tx, keys, deletedAt);
  },
};

export const eventChanged = keepCopy(topics.eventChanged, endingAnswers, (fact) => fact, {
  afterChange: announceChange,
  afterDelivery: ({ directory }: Forgetful) => directory.forget(),
});

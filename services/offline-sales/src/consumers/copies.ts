import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { endWork } from "@tessera/kit/jobs/work";
import { endingWith, notingGone } from "@tessera/kit/pg/gone-events";
import { topics } from "@tessera/protos/topics";
import { makeBatch, makingsOf } from "../make-work.ts";
import { deleteBatchesUntil } from "../store/batches.ts";
import { items, subevents } from "../store/copies.ts";
import { events } from "../store/events.ts";

/**
 * Keeps our copy of events. With a deleted event its batches go, whose orders went with it. What a rebuild's sweep finds
 * missing stays for a day, unreachable: it may come back.
 */
export const eventChanged = keepCopy(
  topics.eventChanged,
  endingWith(notingGone(events), async (tx, { deletedAt, ...event }) => {
    await endWork(tx, makeBatch, { prefix: makingsOf(event), before: deletedAt });
    await deleteBatchesUntil(tx, event, deletedAt);
  }),
  (fact) => fact,
);

/** Keep our copies of what filters name. */
export const itemChanged = keepCopy(topics.itemChanged, items, ({ variations, ...fact }) => ({
  ...fact,
  variations: variations.map(({ id }) => id),
}));

export const subeventChanged = keepCopy(topics.subeventChanged, subevents, (fact) => fact);

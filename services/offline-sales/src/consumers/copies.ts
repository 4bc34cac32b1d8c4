import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { notingGone } from "@tessera/kit/pg/gone-events";
import { topics } from "@tessera/protos/topics";
import { items, subevents } from "../store/copies.ts";
import { events } from "../store/events.ts";

/** Keeps our copy of events. Batches of a deleted event stay for a day, unreachable: it may come back. */
export const eventChanged = keepCopy(topics.eventChanged, notingGone(events), (fact) => fact);

/** Keep our copies of what filters name. */
export const itemChanged = keepCopy(topics.itemChanged, items, ({ variations, ...fact }) => ({
  ...fact,
  variations: variations.map(({ id }) => id),
}));

export const subeventChanged = keepCopy(topics.subeventChanged, subevents, (fact) => fact);

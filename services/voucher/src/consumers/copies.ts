import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { categories, items, quotas, subevents } from "../store/copies.ts";
import { events } from "../store/events.ts";

/** Keep our copies of what vouchers refer to. */
export const eventChanged = keepCopy(topics.eventChanged, events, (fact) => fact);
export const subeventChanged = keepCopy(topics.subeventChanged, subevents, (fact) => fact);
export const categoryChanged = keepCopy(topics.categoryChanged, categories, (fact) => fact);
export const quotaChanged = keepCopy(topics.quotaChanged, quotas, (fact) => fact);
export const itemChanged = keepCopy(topics.itemChanged, items, ({ variations, ...fact }) => ({
  ...fact,
  variations: variations.map(({ id }) => id),
}));

import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { notingGone } from "@tessera/kit/pg/gone-events";
import { topics } from "@tessera/protos/topics";
import { items, salesChannels } from "../store/copies.ts";
import { events } from "../store/events.ts";

/** Keeps our copy of events. Layouts of a deleted event stay for a day, unreachable: it may come back. */
export const eventChanged = keepCopy(topics.eventChanged, notingGone(events), (fact) => fact);

/** Keeps our copy of items. With an item its assignments go. */
export const itemChanged = keepCopy(topics.itemChanged, items, (fact) => fact);

export const salesChannelChanged = keepCopy(topics.salesChannelChanged, salesChannels, (fact) => fact);

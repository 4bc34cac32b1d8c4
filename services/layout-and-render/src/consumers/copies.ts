import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { endWork } from "@tessera/kit/jobs/work";
import { endingWith, notingGone } from "@tessera/kit/pg/gone-events";
import { topics } from "@tessera/protos/topics";
import { renderWorks, worksOf } from "../render-work.ts";
import { items, salesChannels } from "../store/copies.ts";
import { events } from "../store/events.ts";

/**
 * Keeps our copy of events. With a deleted event its rendered files go; a job removes them from the store. Its layouts stay for
 * a day, unreachable: it may come back.
 */
export const eventChanged = keepCopy(
  topics.eventChanged,
  endingWith(notingGone(events), async (tx, { deletedAt, ...event }) => {
    for (const work of renderWorks) await endWork(tx, work, { prefix: worksOf(event), before: deletedAt });
  }),
  (fact) => fact,
);

/** Keeps our copy of items. With an item its assignments go. */
export const itemChanged = keepCopy(topics.itemChanged, items, (fact) => fact);

export const salesChannelChanged = keepCopy(topics.salesChannelChanged, salesChannels, (fact) => fact);

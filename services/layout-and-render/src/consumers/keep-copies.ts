import { endingWith, notingGone } from "@tessera/events/gone-events";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { noteFilesToRemove } from "@tessera/kit/jobs/files-to-remove";
import { endWork } from "@tessera/kit/jobs/work";
import { topics } from "@tessera/protos/topics";
import { renderWorks, worksOf } from "../printing/render-work.ts";
import { items, salesChannels } from "../store/copies.ts";
import { events } from "../store/events.ts";

const endingRenders = endingWith(events, async (tx, { deletedAt, ...event }) => {
  for (const work of renderWorks) {
    const ended = await endWork(tx, work, { prefix: worksOf(event), before: deletedAt });
    await noteFilesToRemove(
      tx,
      ended.flatMap(({ result }) => result?.fileKey ?? []),
    );
  }
});

/**
 * Keeps our copy of events. Jobs of a deleted event end with it, and a job removes their files. Its layouts stay for a day,
 * unreachable: it may come back.
 */
export const eventChanged = keepCopy(topics.eventChanged, notingGone(endingRenders), (fact) => fact);

/** Keeps our copy of items. With an item its assignments go. */
export const itemChanged = keepCopy(topics.itemChanged, items, (fact) => fact);

export const salesChannelChanged = keepCopy(topics.salesChannelChanged, salesChannels, (fact) => fact);

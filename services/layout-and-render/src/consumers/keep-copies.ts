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
 * Keeps our copy of events. A deleted event ends its jobs, and a job removes their files. The layouts are unreachable,
 * and stay for a day: the event may come back.
 */
export const eventChanged = keepCopy(topics.eventChanged, notingGone(endingRenders), (fact) => fact);

/** Keeps our copy of items. A deleted item loses its assignments. */
export const itemChanged = keepCopy(topics.itemChanged, items, (fact) => fact);

export const salesChannelChanged = keepCopy(topics.salesChannelChanged, salesChannels, (fact) => fact);

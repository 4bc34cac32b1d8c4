import { endingWith, notingGone } from "@tessera/events/gone-events";
import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { noteFilesToRemove } from "@tessera/kit/jobs/files-to-remove";
import { endWork } from "@tessera/kit/jobs/work";
import { topics } from "@tessera/protos/topics";
import { renderWorks, worksOf } from "../printing/render-work.ts";
import { items, salesChannels } from "../store/copies.ts";
import { events } from "../store/events.ts";
import { deleteLayoutsOf } from "../store/gone-events.ts";

const endingLayouts = endingWith(events, async (tx, { deletedAt, ...event }) => {
  await deleteLayoutsOf(tx, event);
  for (const work of renderWorks) {
    const ended = await endWork(tx, work, { prefix: worksOf(event), before: deletedAt });
    await noteFilesToRemove(
      tx,
      ended.flatMap(({ result }) => result?.fileKey ?? []),
    );
  }
});

/**
 * Keeps our copy of events. With a deleted event its layouts and jobs go: another one may get its name. Jobs remove their files.
 * Layouts of an event that a rebuild has left out stay for a day, unreachable: it may come back.
 */
export const eventChanged = keepCopy(topics.eventChanged, notingGone(endingLayouts), (fact) => fact);

/** Keeps our copy of items. A deleted item loses its assignments. */
export const itemChanged = keepCopy(topics.itemChanged, items, (fact) => fact);

export const salesChannelChanged = keepCopy(topics.salesChannelChanged, salesChannels, (fact) => fact);

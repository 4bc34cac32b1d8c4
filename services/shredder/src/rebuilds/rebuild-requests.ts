import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { Named } from "../domain/named.ts";
import { countRequested, nextRequested } from "../store/cases.ts";

/**
 * Publishes the requests of the ledger again, as new facts: a service whose database was restored from a backup erases
 * again what was erased since. Others erase what has come since then, too.
 */
export const rebuildRequests: Rebuild<Named> = {
  topic: topics.shredRequested,
  // Requests are independent of each other: none is older or newer than another.
  drawCutoff: async () => 0,
  count: countRequested,
  async publishNext(tx, { after, limit }) {
    const cases = await nextRequested(tx, { after, limit });
    const last = cases.at(-1);
    if (last === undefined) return undefined;
    await tx.publish(
      topics.shredRequested,
      cases.map(({ organizer, event, id, kinds, requestedAt }) => ({
        ...{ organizer, event, case: id, kinds: [...kinds], requestedAt },
        ...{ again: true, fromLedger: true },
      })),
    );
    const { organizer, event, id } = last;
    return { last: { organizer, event, id }, published: cases.length };
  },
};

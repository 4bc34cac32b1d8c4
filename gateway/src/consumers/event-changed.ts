import { type Consumer, consume, newestPerKey } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { announceChange } from "../access/change-notice.ts";
import * as events from "../store/events.ts";

/** Keeps our copy of which events there are. */
export function eventChanged(db: Db): Consumer {
  return consume(
    topics.eventChanged,
    db,
    async (tx, facts) => {
      const newest = newestPerKey(facts);
      const gone = newest.filter((fact) => fact.value === null).map((fact) => parseEntityKey(fact.key));
      const states = newest.flatMap(({ value }) => (value === null ? [] : [value]));
      if (gone.length > 0) await events.remove(tx, gone);
      if (states.length > 0) await events.upsertNewer(tx, states);
      await announceChange(tx);
    },
    {
      async sweep(tx, { before }) {
        const removed = await events.removeOlder(tx, before);
        await announceChange(tx);
        return removed;
      },
    },
  );
}

import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import { workOn } from "@tessera/kit/jobs/workers";
import { pause } from "@tessera/kit/pause";
import type { Db } from "@tessera/kit/pg/database";
import { eventRemoval, type RemovalPlace, removeNext } from "../records/event-removal.ts";

/** With more facts waiting, the removal rests: facts of other events would wait behind its own. */
const mostWaiting = 2000;

const restMs = 50;

/** Deletes a removed event in stretches, each in a transaction of its own. After a crash, the next process begins again. */
export const removeEvents = workOn(
  eventRemoval,
  async ({ payload: scope, signal, step }, { db }: { readonly db: Db }) => {
    for (let place: RemovalPlace | undefined = { part: 0 }; place !== undefined; ) {
      while ((await readOutbox(db, { atMost: mostWaiting })).waiting >= mostWaiting) {
        signal.throwIfAborted();
        await pause(restMs, signal);
      }
      signal.throwIfAborted();
      const from: RemovalPlace = place;
      place = await step((tx) => removeNext(tx, scope, { place: from }));
    }
    return async () => {};
  },
);

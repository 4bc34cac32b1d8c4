import { untilOutboxRoom } from "@tessera/kit/bus/outbox-room";
import { workOn } from "@tessera/kit/jobs/work-on";
import type { Db } from "@tessera/kit/pg/database";
import { eventRemoval, type RemovalPlace, removeNext } from "../records/event-removal.ts";

/** Deletes a removed event in batches, each in its own transaction. After a crash another process starts over. */
export const removeEvents = workOn(
  eventRemoval,
  async ({ payload: scope, signal, step }, { db }: { readonly db: Db }) => {
    for (let place: RemovalPlace | undefined = { part: 0 }; place !== undefined; ) {
      await untilOutboxRoom(db, signal);
      signal.throwIfAborted();
      const from: RemovalPlace = place;
      place = await step((tx) => removeNext(tx, scope, { place: from }));
    }
    return async () => {};
  },
);

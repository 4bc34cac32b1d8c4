import { untilOutboxRoom } from "@tessera/kit/bus/outbox-room";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { removeUntil } from "../leftovers/remove-vouchers.ts";
import { findGoneEvents } from "../store/gone-events.ts";

const everyMs = 2000;

/** Deletes the vouchers of deleted events. After a crash, another process starts over. */
export function removeGoneEvents({ db }: { readonly db: Db }): Job {
  return {
    name: "remove-gone-events",
    everyMs,
    async run(signal) {
      const isOver = async () => {
        await untilOutboxRoom(db, signal);
        return signal.aborted;
      };
      for (const place of await findGoneEvents(db)) if (!(await removeUntil(db, place, isOver))) return;
    },
  };
}

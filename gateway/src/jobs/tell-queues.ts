import { isTransient } from "@tessera/kit/fault";
import type { Job } from "@tessera/kit/jobs/interval";
import { leadOnce } from "@tessera/kit/jobs/leader";
import type { Db } from "@tessera/kit/pg/database";
import { declareLock } from "@tessera/kit/pg/locks";
import type { Clients } from "../clients.ts";
import { findQueues } from "../store/device-contacts.ts";

const queueLock = declareLock("tessera gateway queues");

/** As often as alarms are decided. */
const everyMs = 10_000;

/** Those with the most scans. */
const mostDevices = 5000;

/** Tells checkin which devices have scans to upload: it alone knows which events are under way. One replica at a time does it. */
export function tellQueues({
  db,
  alarms,
}: {
  readonly db: Db;
  readonly alarms: Pick<Clients["alarms"], "noteQueues">;
}): Job {
  return {
    name: "tell-queues",
    everyMs,
    run: (signal) =>
      leadOnce(db, { lock: queueLock(), signal }, async () => {
        const found = await findQueues(db, { most: mostDevices });
        const devices = found.map(({ events, ...queue }) => ({
          ...queue,
          ...(events && { events: { slugs: [...events] } }),
        }));
        try {
          await alarms.noteQueues({ devices }, { signal });
        } catch (error) {
          // The next run reports the others.
          if (!isTransient(error)) throw error;
        }
      }),
  };
}

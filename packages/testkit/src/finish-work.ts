import { systemClock } from "@tessera/kit/clock";
import type { Worker } from "@tessera/kit/jobs/work-on";
import { startWorkers } from "@tessera/kit/jobs/workers";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Log } from "@tessera/kit/telemetry/log";
import { createMetrics, type Metrics } from "@tessera/kit/telemetry/metrics";
import { eventually } from "./eventually.ts";
import { quiet } from "./fact-pipeline.ts";

/** Starts workers that poll all the time. */
export function startTestWorkers(
  db: Db,
  workers: readonly Worker[],
  { log = quiet, metrics = createMetrics(), pollMs = 20 }: { log?: Log; metrics?: Metrics; pollMs?: number } = {},
) {
  return startWorkers({ db, workers, clock: systemClock, log, metrics, service: "test", pollMs });
}

/** Does all ready work. Work that rests after a failed try stays. */
export async function finishWork(db: Db, workers: readonly Worker[], options: { log?: Log } = {}): Promise<void> {
  const running = startTestWorkers(db, workers, options);
  try {
    await eventually(async () => {
      const left = await db.maybeOne(sql`
        select from work
         where work.state = 'running' or (work.state = 'waiting' and coalesce(work.due_at, now()) <= now())
         limit 1`);
      return left === undefined;
    });
  } finally {
    await running.stop();
  }
}

/** Lets the time pass until resting work is ready and leases that are not extended have ended. */
export async function passTime(db: Db): Promise<void> {
  await db.run(sql`
    update work
       set due_at = now()
      from (select work.kind, work.id
              from work
             where work.state in ('waiting', 'running') and work.due_at is not null
               for update skip locked) as timed
     where work.kind = timed.kind and work.id = timed.id`);
}

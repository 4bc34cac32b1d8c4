import type { Clock } from "../clock.ts";
import { isTransient } from "../fault.ts";
import type { Job } from "../jobs/interval.ts";
import type { Queryable } from "./database.ts";
import { sql } from "./sql.ts";

/** In between, the clock goes on by itself. It may be late by so much where the whole machine was suspended. */
const everyMs = 1000;

/** The time of a database, shown on this machine. */
export interface DatabaseClock extends Clock {
  /** Compares it with the database again and again. */
  readonly compare: Job;
}

/**
 * Opens a clock that shows the time of a database. All processes of a service agree on it, whatever the clocks of their
 * machines show, and however these are set meanwhile.
 *
 * The time in an answer of the database is between the question and the answer. So a comparison gives limits, and the
 * clock moves only as far as it is outside of them: slow answers do not make it jump.
 */
export async function openDatabaseClock(db: Queryable, elapsed: () => number = elapsedMicros): Promise<DatabaseClock> {
  /** The time of the database less the count of this process. */
  let ahead: number | undefined;
  async function compare(): Promise<number> {
    const asked = elapsed();
    const { time } = await db.one<{ time: number }>(sql`select clock_timestamp() as time`);
    const [least, most] = [time - elapsed(), time - asked];
    return Math.min(most, Math.max(least, ahead ?? Math.round((least + most) / 2)));
  }
  ahead = await compare();
  return {
    now: () => (ahead ?? 0) + elapsed(),
    compare: {
      name: "compare-clock",
      everyMs,
      async run() {
        try {
          ahead = await compare();
        } catch (error) {
          // While the database is away, the clock goes on.
          if (!isTransient(error)) throw error;
        }
      },
    },
  };
}

/** Counts whole microseconds. Nothing that is done to the clock of the machine changes it. */
function elapsedMicros(): number {
  return Math.round(performance.now() * 1000);
}

import type { Log } from "../telemetry/log.ts";
import { backoff } from "../waiting/backoff.ts";
import { pause } from "../waiting/pause.ts";

/** Work that repeats at an interval. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(signal: AbortSignal): Promise<void>;
}

export interface JobRunner {
  /** Waits for running jobs, and starts no more. */
  stop(): Promise<void>;
}

/** The longest pause after failures, unless the interval is longer. */
const longestPauseMs = 10_000;

/**
 * Runs jobs at their intervals. In this process a job never runs twice at the same time. A failure is logged, and the
 * pause grows with each failure. Several replicas run the same jobs: a job must be safe to repeat, and take a lock if it
 * must not run twice at the same time.
 */
export function runJobs(jobs: readonly Job[], log: Log): JobRunner {
  const stopping = new AbortController();
  const running = jobs.map((job) => repeat(job, log, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

async function repeat(job: Job, log: Log, signal: AbortSignal): Promise<void> {
  const pauses = { firstMs: job.everyMs, longestMs: Math.max(longestPauseMs, job.everyMs) };
  for (let failed = 0; !signal.aborted; ) {
    await pause(backoff(pauses, failed + 1), signal);
    if (signal.aborted) return;
    try {
      await job.run(signal);
      failed = 0;
    } catch (error) {
      failed += 1;
      if (!signal.aborted) log.error("job failed; it runs again", { job: job.name, error });
    }
  }
}

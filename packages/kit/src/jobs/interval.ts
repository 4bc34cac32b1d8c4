import { backoff } from "../backoff.ts";
import type { Log } from "../log.ts";
import { pause } from "../pause.ts";

/** Work that repeats; with several replicas, one at a time runs it. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(signal: AbortSignal): Promise<void>;
}

export interface JobRunner {
  /** Waits for what is running and starts nothing more. */
  stop(): Promise<void>;
}

/** What fails again and again is told no more often than this. */
const longestPauseMs = 10_000;

/**
 * Runs jobs at their intervals, each never beside itself in this process. A job
 * that fails is logged and runs again, later each time it has failed. Between
 * replicas a job must be safe to repeat; one that must not run twice at a time
 * takes a lock.
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

import { setTimeout as sleep } from "node:timers/promises";

/** Waits until all work is done, but no longer than the time. */
export async function settledOr(ms: number, work: readonly Promise<void>[]): Promise<void> {
  const enough = new AbortController();
  const time = sleep(ms, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([Promise.all(work), time]);
  enough.abort();
}

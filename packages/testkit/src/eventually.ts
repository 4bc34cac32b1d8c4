import { setTimeout as sleep } from "node:timers/promises";

/** For hangs alone: a busy machine takes as long as it takes. */
const patienceMs = 120_000;

/** Waits until a condition holds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const until = Date.now() + patienceMs; !(await condition()); await sleep(10)) {
    if (Date.now() > until) throw new Error(`not within ${patienceMs} ms: ${condition.toString()}`);
  }
}

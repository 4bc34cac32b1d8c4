import { setTimeout as sleep } from "node:timers/promises";
import { showProgress } from "../command/progress.ts";
import { fault } from "../faults.ts";

const pollMs = 150;

/** The option that limits such waits. */
export const waitOption = {
  type: "string",
  value: "SECONDS",
  default: "60",
  help: "how long to wait without progress (default 60)",
} as const;

export function readWait(text: string): number {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds > 86_400) throw fault("bad_wait", "--wait takes whole seconds, at most 86400");
  return seconds * 1000;
}

/** The state of the work; the text changes with every progress. */
interface Standing {
  readonly text: string;
  readonly done: boolean;
}

/** Polls until the work is done, or until nothing has changed for this long. */
export async function waitForProgress(look: () => Promise<Standing>, stillMs: number): Promise<void> {
  const progress = showProgress();
  try {
    let last = "";
    for (let since = performance.now(); ; await sleep(pollMs)) {
      const { text, done } = await look();
      if (done) return;
      if (text !== last) since = performance.now();
      last = text;
      progress.update(text);
      if (performance.now() - since > stillMs) return;
    }
  } finally {
    progress.done();
  }
}

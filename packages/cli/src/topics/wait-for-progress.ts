import { setTimeout as sleep } from "node:timers/promises";
import { fault } from "../faults.ts";
import { showProgress } from "../progress.ts";

const pollMs = 150;

/** The option that bounds such waits. */
export const waitOption = {
  type: "string",
  value: "SECONDS",
  default: "60",
  help: "how long to wait while nothing moves (default 60)",
} as const;

/** Reads the option. */
export function readWait(text: string): number {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds > 86_400) throw fault("bad_wait", "--wait takes whole seconds, at most 86400");
  return seconds * 1000;
}

/** How far something is: a text to show, which changes while it moves. */
export interface Standing {
  readonly text: string;
  readonly done: boolean;
}

/** Looks again and again until it is done; false when nothing has moved for so long. */
export async function waitForProgress(look: () => Promise<Standing>, stillMs: number): Promise<boolean> {
  const progress = showProgress();
  try {
    let last = "";
    for (let since = performance.now(); ; await sleep(pollMs)) {
      const { text, done } = await look();
      if (done) return true;
      if (text !== last) since = performance.now();
      last = text;
      progress.update(text);
      if (performance.now() - since > stillMs) return false;
    }
  } finally {
    progress.done();
  }
}

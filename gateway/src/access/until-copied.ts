import { pause } from "@tessera/kit/pause";
import { waitAtMost } from "@tessera/kit/wait-at-most";

const firstPauseMs = 5;
const longestPauseMs = 250;

/** Asks again and again whether our copy has come as far as it should. Returns false when the time is over, or nobody waits any more. */
export async function untilCopied(
  isCopied: () => Promise<boolean>,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<boolean> {
  const until = Date.now() + ms;
  for (
    let pauseMs = firstPauseMs;
    Date.now() < until && !signal.aborted;
    pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)
  ) {
    const tooLate = () => new Error("our copy could not be read in time");
    // What could not be read may be read yet; the change itself is durable.
    if (await waitAtMost(until - Date.now(), isCopied(), tooLate).catch(() => false)) return true;
    await pause(Math.max(0, Math.min(pauseMs, until - Date.now())), signal);
  }
  return false;
}

import type { Fault } from "@tessera/kit/fault";
import { type Turn, Turns } from "@tessera/kit/turns";
import { fault } from "../faults.ts";
import type { Incoming } from "./route.ts";

/** How much of downloads may be under way, and how long they may take. */
export interface DownloadLimits {
  readonly total: number;
  /** Of it for one organizer. */
  readonly each: number;
  readonly waitMs: number;
  /** A client that has not read the whole answer by then is cut off. */
  readonly longestMs: number;
}

/** Makes what takes a turn for a download. It ends with the request: when its answer has been sent, or can no longer be. */
export function downloadTurns({ longestMs, ...limits }: DownloadLimits) {
  const downloads = new Turns({ ...limits, busy });
  return async (request: Incoming, amount: number): Promise<Turn> => {
    const { organizer: party, signal } = request;
    const turn = await downloads.take({ party, amount, signal });
    const timer = setTimeout(() => request.cutOff(), longestMs);
    const end = () => {
      clearTimeout(timer);
      turn.end();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    return turn;
  };
}

function busy(): Fault {
  return fault("downloads_busy", "Too many files are being downloaded at once. Ask for this one again soon.", {
    retryAfterMs: 5000,
  });
}

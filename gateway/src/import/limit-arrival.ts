import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";

export interface ArrivalLimits {
  /** So long a client may send nothing. Time that the reader takes does not count. */
  readonly maxMs: number;
  /** Aborts when this process has to stop. */
  readonly stopping: AbortSignal;
}

/** Passes a stream on, and ends it with a Fault when nothing has come for too long, or when this process stops. */
export async function* limitArrival(
  source: AsyncIterable<Uint8Array>,
  limits: ArrivalLimits,
): AsyncIterable<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await soon(pieces.next(), limits);
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Not awaited: a source that hangs would hang its own end.
    void Promise.resolve(pieces.return?.()).catch(() => {});
  }
}

async function soon<T>(work: Promise<T>, { maxMs, stopping }: ArrivalLimits): Promise<T> {
  if (stopping.aborted) throw stopped();
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const cut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow(maxMs)), maxMs);
    stop = () => reject(stopped());
    stopping.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
    if (stop !== undefined) stopping.removeEventListener("abort", stop);
  }
}

function stopped(): Fault {
  return fault(
    "stopping",
    "The server is being stopped. Send the records again: what was applied stays, and coming twice changes nothing.",
    { retryAfterMs: 1000 },
  );
}

function tooSlow(maxMs: number): Fault {
  return fault("body_too_slow", `Nothing arrived for ${Math.round(maxMs / 1000)} seconds.`);
}

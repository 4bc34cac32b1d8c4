import type { Fault } from "@tessera/kit/fault";
import { passOn } from "../body/pass-on.ts";
import { fault } from "../faults.ts";

export interface ArrivalLimits {
  /** The longest pause. */
  readonly maxMs: number;
  readonly stopping: AbortSignal;
}

/** Forwards a stream. Throws a Fault when the stream pauses for too long, and when this process stops. */
export function limitArrival(source: AsyncIterable<Uint8Array>, limits: ArrivalLimits): AsyncIterable<Uint8Array> {
  return passOn(source, (next) => soon(next, limits));
}

async function soon<T>(work: Promise<T>, { maxMs, stopping }: ArrivalLimits): Promise<T> {
  if (stopping.aborted) throw stopped();
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const cut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow(maxMs)), maxMs);
    stop = () => reject(stopped());
    stopping.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", stop);
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

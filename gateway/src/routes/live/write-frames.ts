import { isTransient } from "@tessera/kit/fault";
import { pause } from "@tessera/kit/waiting/pause";

/** When a stream ends, at the latest. */
export interface FramesEnd {
  /** An instant of the monotonic clock, in milliseconds. */
  readonly until: number;
  /** Aborts when the viewer leaves, or this process stops. */
  readonly signal: AbortSignal;
}

/**
 * Writes a state each second as Server-Sent Events, at the same moment for all viewers. A viewer that reads slowly misses states and
 * gets the newest. While none can be read, comments keep the connection.
 */
export async function* writeFrames(
  first: string,
  read: () => Promise<string>,
  { until, signal }: FramesEnd,
): AsyncGenerator<string> {
  yield "retry: 1000\n\n";
  let written: string | undefined;
  for (let frame: string | undefined = first; ; frame = await readOr(read)) {
    if (frame === undefined) yield ": nothing could be read\n\n";
    else if (frame !== written) yield `data: ${frame}\n\n`;
    written = frame;
    await pause(1000 - (Date.now() % 1000), signal);
    if (performance.now() >= until || signal.aborted) return;
  }
}

async function readOr(read: () => Promise<string>): Promise<string | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isTransient(error)) return undefined;
    throw error;
  }
}

import type { Fault } from "@tessera/kit/fault";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { passOn } from "../body/pass-on.ts";
import { fault } from "../faults.ts";

export interface ReceiveLimits {
  readonly maxBytes: number;
  /** How long a pause may be. */
  readonly idleMs: number;
  /** How long the whole may take. */
  readonly maxMs: number;
}

/** Forwards a body as it arrives, and throws a Fault if it is too large or too slow. */
export async function* receiveBytes(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, idleMs, maxMs }: ReceiveLimits,
): AsyncGenerator<Uint8Array, void> {
  const until = performance.now() + maxMs;
  const arriving = passOn(source, (next) => {
    const leftMs = until - performance.now();
    return leftMs < idleMs
      ? waitAtMost(Math.max(0, leftMs), next, () => tooSlow(`did not arrive within ${seconds(maxMs)}`))
      : waitAtMost(idleMs, next, () => tooSlow(`paused for ${seconds(idleMs)}`));
  });
  let size = 0;
  for await (const piece of arriving) {
    size += piece.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield piece;
  }
}

/** Refuses a file for its size. */
export function tooLarge(maxBytes: number): Fault {
  return fault("body_too_large", `The file is larger than the ${maxBytes} bytes allowed.`);
}

function tooSlow(what: string): Fault {
  return fault("body_too_slow", `The file ${what}. Send it again over a faster connection.`);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} seconds`;
}

import type { Fault } from "@tessera/kit/fault";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { passOn } from "../body/pass-on.ts";
import { fault } from "../faults.ts";

export interface ReceiveLimits {
  readonly maxBytes: number;
  /** The longest pause. */
  readonly idleMs: number;
  /** The timeout of the whole body. */
  readonly maxMs: number;
  /** The least rate, in bytes per second, after some time. */
  readonly leastRate: { readonly bytes: number; readonly fromMs: number };
}

/** Forwards a body as it arrives, and throws a Fault if it is too large or too slow. */
export async function* receiveBytes(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, idleMs, maxMs, leastRate }: ReceiveLimits,
): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  const begun = performance.now();
  const limits = () => [
    { until: performance.now() + idleMs, what: `paused for ${seconds(idleMs)}` },
    { until: begun + maxMs, what: `did not arrive within ${seconds(maxMs)}` },
    {
      until: begun + leastRate.fromMs + (size / leastRate.bytes) * 1000,
      what: `arrived with less than ${leastRate.bytes} bytes per second`,
    },
  ];
  const arriving = passOn(source, (next) => {
    const { until, what } = limits().reduce((first, other) => (other.until < first.until ? other : first));
    return waitAtMost(Math.max(0, until - performance.now()), next, () => tooSlow(what));
  });
  for await (const piece of arriving) {
    size += piece.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield piece;
  }
}

export function tooLarge(maxBytes: number): Fault {
  return fault("file_too_large", `The file is larger than the ${maxBytes} bytes allowed.`);
}

function tooSlow(what: string): Fault {
  return fault("body_too_slow", `The file ${what}. Send it again over a faster connection.`);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} seconds`;
}

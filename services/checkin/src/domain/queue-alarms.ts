import type { HeldAlarm, IsOpen } from "./alarm.ts";

/** The scans that a device has still to upload, as it reported them. A device without any has no samples. */
export interface QueueSample {
  readonly device: number;
  /** In seconds since 1970. */
  readonly toldAt: number;
  readonly queue: number;
}

/** In seconds: older reports say nothing about the present. */
const queueMemory = 300;
const leastQueue = 10;
const growsSeconds = 60;
const largeQueue = 50;
const largeSeconds = 120;

/** Decides which devices fail to upload their scans. */
export function decideQueues(
  samples: readonly QueueSample[],
  { now, isOpen }: { readonly now: number; readonly isOpen: IsOpen },
): HeldAlarm[] {
  const lately = samples.filter(({ toldAt }) => toldAt > now - queueMemory);
  return [...Map.groupBy(lately, ({ device }) => device)].flatMap(([device, ofDevice]) => {
    const sorted = ofDevice.toSorted((one, other) => other.toldAt - one.toldAt);
    const newest = sorted[0];
    if (newest === undefined) return [];
    const { queue: measured, toldAt } = newest;
    const usual = sorted.find((sample) => sample.toldAt <= toldAt - growsSeconds)?.queue ?? null;
    const alarm = { kind: "queue_grows", gate: null, device, list: null, since: null, measured, usual } as const;
    const grows = measured >= leastQueue && usual !== null && measured > usual;
    return grows || isLarge(sorted) || isOpen(alarm) ? [alarm] : [];
  });
}

function isLarge(sorted: readonly QueueSample[]): boolean {
  const small = sorted.findIndex(({ queue }) => queue <= largeQueue);
  const large = small < 0 ? sorted : sorted.slice(0, small);
  const [first, last] = [large[0], large.at(-1)];
  return first !== undefined && last !== undefined && first.toldAt - last.toldAt >= largeSeconds;
}

import type { ArrivedScan } from "@tessera/admission";
import type { BatchSlotsOptions } from "@tessera/kit/waiting/batch-slots";
import type { Decision } from "./decision.ts";

/** Whether the caller of this scan still waits. A caller that gave up may have got another outcome elsewhere. */
export type IsAwaited = (index: number) => boolean;

export interface BatchesOptions extends Pick<BatchSlotsOptions, "atOnce" | "worthAnother"> {
  /** Decides scans together, in order. */
  decide(scans: readonly ArrivedScan[], isAwaited: IsAwaited): Promise<readonly Decision[]>;
  /** Called when a batch or a single scan could not be decided. */
  onFailure(error: unknown, scans: number): void;
  /** In scans on one list. */
  readonly batchSize: number;
  /** The rate limit, in scans on one list; undefined: none. */
  readonly mostPerSecond?: number | undefined;
  /** Backpressure: when this many scans wait, further ones are refused, since their callers would not wait so long. */
  readonly longestQueue: number;
}

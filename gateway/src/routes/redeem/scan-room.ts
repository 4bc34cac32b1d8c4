import type { Fault } from "@tessera/kit/fault";
import { Counts } from "@tessera/kit/waiting/counts";
import { fault } from "../../faults.ts";

interface RoomLimits {
  readonly organizer: number;
  readonly credential: number;
}

/** Unanswered scans: where a thousand are decided per second, a further one would wait for a quarter of a second. */
export const roomOfScans: RoomLimits = { organizer: 256, credential: 128 };

/** Unanswered batches of scans: one more would wait for seconds. */
export const roomOfBatches: RoomLimits = { organizer: 16, credential: 8 };

export interface Sender {
  readonly organizer: string;
  /** Identifies the key or the device. */
  readonly credential: string;
}

/** Counts the unanswered scans, or batches of them, of each sender (backpressure). */
export class ScanRoom {
  readonly #most: RoomLimits;
  readonly #open = { organizer: new Counts(), credential: new Counts() };
  /** Shared: thousands a second are refused, and the stack of an error costs as much as an answer. */
  readonly #refusal = overloaded();

  constructor(most: RoomLimits) {
    this.#most = most;
  }

  /** Why a further one of this sender is refused; undefined: there is room. */
  refuse({ organizer, credential }: Sender): Fault | undefined {
    const hasRoom =
      this.#open.organizer.of(organizer) < this.#most.organizer &&
      this.#open.credential.of(credential) < this.#most.credential;
    return hasRoom ? undefined : this.#refusal;
  }

  async hold<T>(sender: Sender, decide: () => Promise<T>): Promise<T> {
    const refusal = this.refuse(sender);
    if (refusal !== undefined) throw refusal;
    this.#count(sender, 1);
    try {
      return await decide();
    } finally {
      this.#count(sender, -1);
    }
  }

  #count({ organizer, credential }: Sender, change: number): void {
    this.#open.organizer.add(organizer, change);
    this.#open.credential.add(credential, change);
  }
}

export function overloaded(): Fault {
  return fault("too_many_redeems", "More scans are waiting than can be decided; send it again.", {
    retryAfterMs: 1000,
  });
}

import type { Fault } from "@tessera/kit/fault";
import { Counts } from "@tessera/kit/waiting/counts";
import { fault } from "../../faults.ts";

/** Unanswered scans: where a thousand are decided per second, a further one would wait for a quarter of a second. */
const mostOpen = { organizer: 256, credential: 128 };

export interface Sender {
  readonly organizer: string;
  /** Identifies the key or the device. */
  readonly credential: string;
}

/** Counts the unanswered scans of each sender (backpressure). */
export class ScanRoom {
  readonly #open = { organizer: new Counts(), credential: new Counts() };
  /** Shared: thousands a second are refused, and the stack of an error costs as much as an answer. */
  readonly #refusal = overloaded();

  /** Why a further scan of this sender is refused; undefined: there is room. */
  refuse({ organizer, credential }: Sender): Fault | undefined {
    const hasRoom =
      this.#open.organizer.of(organizer) < mostOpen.organizer &&
      this.#open.credential.of(credential) < mostOpen.credential;
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

import type { Fault } from "@tessera/kit/fault";
import { Counts } from "@tessera/kit/waiting/counts";
import { fault } from "../../faults.ts";

/** Scans without an answer. With more of them a scan would wait for a quarter of a second, where a thousand are decided in one. */
const mostOpen = { organizer: 256, credential: 128 };

/** Who sends a scan. */
export interface Sender {
  readonly organizer: string;
  /** Names the key or the device. */
  readonly credential: string;
}

/** The scans that have no answer yet, by their senders. */
export class ScanRoom {
  readonly #open = { organizer: new Counts(), credential: new Counts() };
  /** One for all: thousands a second are refused so, and the trace of an error costs as much as an answer. */
  readonly #refusal = overloaded();

  /** Why one more scan of this sender is refused, whatever it says; undefined: there is room. */
  refuse({ organizer, credential }: Sender): Fault | undefined {
    const hasRoom =
      this.#open.organizer.of(organizer) < mostOpen.organizer &&
      this.#open.credential.of(credential) < mostOpen.credential;
    return hasRoom ? undefined : this.#refusal;
  }

  /** Has a scan decided, if there is room for it. */
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

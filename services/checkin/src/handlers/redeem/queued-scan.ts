import type { ArrivedScan } from "@tessera/admission";
import type { Counts } from "@tessera/kit/waiting/counts";
import type { Answer } from "./decision.ts";
import { undecided } from "./outcome.ts";

/** How long the caller of a scan waits. */
export interface Wait {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970: later the outcome is of no use. */
  readonly deadline: number;
  /** After this long in conflict with other changes of its ticket the scan stays undecided. */
  readonly patienceMs: number;
}

/** A scan from its arrival to its answer, by a batch or by a timeout. */
export class QueuedScan {
  readonly scan: ArrivedScan;
  /** A batch decides at most one scan with this key. */
  readonly key: string;
  /** The number of consecutive conflicts. */
  conflicts = 0;
  /** A batch decides the scan: it may be stored. */
  isUnderWay = false;
  readonly #wait: Wait;
  /** By `performance.now`. */
  readonly #patientUntil: number;
  /** The timeout of a scan that is in conflict. */
  #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;
  readonly #open: Counts;
  readonly #resolve: (answer: Answer) => void;

  /** Until the answer the scan counts as open under its key. */
  constructor(
    { scan, key, wait, open }: { scan: ArrivedScan; key: string; wait: Wait; open: Counts },
    resolve: (answer: Answer) => void,
  ) {
    this.scan = scan;
    this.key = key;
    this.#wait = wait;
    this.#patientUntil = performance.now() + wait.patienceMs;
    this.#open = open;
    this.#resolve = resolve;
    open.add(key, 1);
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** After an event-loop stall code runs before overdue timers fire, so the clock is compared, too. */
  get isAwaited(): boolean {
    const { signal, deadline } = this.#wait;
    return !signal.aborted && Date.now() < deadline;
  }

  /** Notes a conflict with another change of the ticket. False: the scan waits no longer, and is not stored. */
  holdBack(): boolean {
    const leftMs = this.#patientUntil - performance.now();
    if (leftMs <= 0) {
      this.answer(undecided);
      return false;
    }
    this.#timer ??= setTimeout(() => {
      if (!this.isUnderWay) this.answer(undecided);
    }, leftMs);
    return true;
  }

  answer(answer: Answer): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    clearTimeout(this.#timer);
    this.#open.add(this.key, -1);
    this.#resolve(answer);
  }
}

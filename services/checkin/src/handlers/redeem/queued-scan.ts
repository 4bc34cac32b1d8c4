import type { Counts } from "@tessera/kit/waiting/counts";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import type { Answer } from "./decision.ts";
import { undecided } from "./outcome.ts";

/** How long the caller of scans waits. */
export interface Wait {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970: no outcome is of use after it. */
  readonly deadline: number;
  /** A scan that other changes of its ticket hold back for so long stays undecided. */
  readonly patienceMs: number;
}

/** A scan from its arrival to its answer, which a batch gives, or the end of its patience. */
export class QueuedScan {
  readonly scan: ArrivedScan;
  /** One batch decides at most one scan with this key. */
  readonly key: string;
  /** How many conflicts it met in a row. */
  conflicts = 0;
  /** A batch decides it: it may be stored. */
  isUnderWay = false;
  readonly #wait: Wait;
  /** By `performance.now`. */
  readonly #patientUntil: number;
  /** Ends its patience, once something has held it back. */
  #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;
  readonly #open: Counts;
  readonly #resolve: (answer: Answer) => void;

  /** Until its answer, it is one of the open scans of its key. */
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

  /** A process that was frozen goes on before its timers fire, so the clock decides, too. */
  get isAwaited(): boolean {
    const { signal, deadline } = this.#wait;
    return !signal.aborted && Date.now() < deadline;
  }

  /** Another change of its ticket comes first. Returns false if the scan waits no longer; it is not stored. */
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

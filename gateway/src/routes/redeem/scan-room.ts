import { Counts } from "@tessera/kit/counts";
import type { Pace } from "./pace.ts";
import type { PendingScan } from "./pending-scan.ts";

/** A scan that would wait longer is better refused at once: its scanner sends it again, or decides alone. */
const usuallyLongestWaitMs = 150;

/** More are never waiting, however fast they are decided. */
const longestQueue = 4096;

/** An organizer may have so many waiting, however many others have, and however slow it is. */
const reserved = 64;

/** What one organizer, one credential and one code on a list may have waiting, of `longestQueue`. */
const mostOf = { organizer: 2048, credential: 512, code: 64 };

/** The scans that have no answer yet, and whether there is room for one more. */
export class ScanRoom {
  readonly #pace: Pace;
  readonly #longestWaitMs: number;
  readonly #open = { organizer: new Counts(), credential: new Counts(), code: new Counts() };
  #unanswered = 0;

  constructor(pace: Pace, longestWaitMs = usuallyLongestWaitMs) {
    this.#pace = pace;
    this.#longestWaitMs = longestWaitMs;
  }

  enter(pending: PendingScan): void {
    this.#count(pending, 1);
  }

  leave(pending: PendingScan): void {
    this.#count(pending, -1);
  }

  /** Whether a scan of this caller has room, whatever its code is. */
  hasRoom(organizer: string, credential: string): boolean {
    const waiting = this.#open.organizer.of(organizer);
    const isFull = this.#isLong() && waiting >= reserved;
    return !isFull && waiting < mostOf.organizer && this.#open.credential.of(credential) < mostOf.credential;
  }

  hasRoomFor(code: string): boolean {
    return this.#open.code.of(code) < mostOf.code;
  }

  /** Whether a scan of the code waits. */
  has(code: string): boolean {
    return this.#open.code.of(code) > 0;
  }

  /** Whether one more scan would wait too long. */
  #isLong(): boolean {
    return this.#unanswered >= Math.min(longestQueue, this.#pace.within(this.#longestWaitMs));
  }

  #count({ scan, credential, code }: PendingScan, change: number): void {
    this.#unanswered += change;
    this.#open.organizer.add(scan.organizer, change);
    this.#open.credential.add(credential, change);
    this.#open.code.add(code, change);
  }
}

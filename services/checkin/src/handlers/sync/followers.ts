import { runInContext } from "@tessera/kit/context";
import type { Reads } from "@tessera/kit/pg/reads";
import { pause } from "@tessera/kit/waiting/pause";
import { readMoment } from "../../store/changes.ts";
import { type Asked, type Cursor, writeCursor } from "../../wire/sync-cursor.ts";
import { type Lines, readLines } from "./read-lines.ts";

/** Gates hear of a change within two seconds; most of that belongs to their network. */
const everyMs = 500;

/** A reader that has got an answer asks again within this time. */
const idleMs = 30_000;

/** A reader that was away for longer reads by itself, and gets the current state: old news may name a person who was erased since. */
const mostNews = 120;
const mostBytes = 8 * 1024 * 1024;

/** Lines that were read once, for all readers. */
export interface News extends Pick<Lines, "bytes" | "isComplete"> {
  /** The cursors before and behind the lines, as texts. */
  readonly after: string;
  readonly cursor: string;
  /** By `performance.now`. */
  readonly readAt: number;
}

/**
 * Follows the changes of one scope for all of its readers: asks every half second while readers wait, and keeps the last
 * lines, so that one statement serves hundreds of gates.
 */
export class Follower {
  readonly #reads: Reads;
  readonly #asked: Asked;
  readonly #signal: AbortSignal;
  readonly #news: News[] = [];
  /** The number of news that are no longer kept. */
  #dropped = 0;
  #at: Cursor;
  #lastText: string;
  #usedAt = performance.now();
  #waiting = 0;
  #reading = 0;
  #asking: Promise<"asked" | "too_old"> | undefined;
  #isOver = false;
  #tick = Promise.withResolvers<void>();

  private constructor(reads: Reads, asked: Asked, { at, signal }: { at: Cursor; signal: AbortSignal }) {
    [this.#reads, this.#asked, this.#signal, this.#at] = [reads, asked, signal, at];
    this.#lastText = writeCursor(at);
  }

  static async open(
    reads: Reads,
    { asked, scope, signal }: { readonly asked: Asked; readonly scope: string; readonly signal: AbortSignal },
  ): Promise<Follower> {
    const { organizer } = asked;
    const { epoch, snapshot: since } = await reads.inTurn(organizer, readMoment);
    return new Follower(reads, asked, { at: { organizer, scope, epoch, since, place: null }, signal });
  }

  /** The number of news so far: what comes later is new to a reader that has read everything now. */
  get count(): number {
    return this.#dropped + this.#news.length;
  }

  /**
   * The number of news that a reader with this cursor has read; undefined: the reader has to read by itself. Waits for a
   * read under way: its result may be older than what this reader has read elsewhere.
   */
  async countAt(cursor: string): Promise<number | undefined> {
    await this.#asking;
    this.#usedAt = performance.now();
    this.#dropOld();
    if (cursor === this.#lastText) return this.count;
    const index = this.#news.findIndex(({ after }) => after === cursor);
    return index === -1 ? undefined : this.#dropped + index;
  }

  /**
   * Notes the number of news, and lets a reader read by itself; what changes after that, the follower finds. If it read to the end, and
   * no other reader waits or reads, the follower goes on from there: what changed while none waited, each reader reads by itself.
   */
  async besides(
    read: () => Promise<Lines | undefined>,
  ): Promise<{ readonly count: number; readonly lines: Lines | undefined }> {
    const { count } = this;
    this.#reading += 1;
    const lines = await read().finally(() => {
      this.#reading -= 1;
    });
    const isAtEnd = lines?.isComplete === true && lines.bytes.length === 0;
    if (!isAtEnd || this.#waiting > 0 || this.#reading > 0) return { count, lines };
    this.#at = lines.cursor;
    this.#lastText = writeCursor(lines.cursor);
    this.#dropped += this.#news.length;
    this.#news.length = 0;
    return { count: this.#dropped, lines };
  }

  /**
   * The news behind the first `count`, as soon as there are some; none when the time is over. Undefined: they are no longer kept, or there will
   * be none.
   */
  async newsBehind(
    count: number,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<readonly News[] | undefined> {
    const until = performance.now() + waitMs;
    this.#waiting += 1;
    try {
      while (this.count <= count && performance.now() < until && !signal.aborted && !this.#isOver) {
        const timer = new AbortController();
        const over = pause(until - performance.now(), AbortSignal.any([signal, timer.signal]));
        await Promise.race([this.#tick.promise, over]).finally(() => timer.abort());
      }
    } finally {
      this.#waiting -= 1;
      this.#usedAt = performance.now();
    }
    const isLost = count < this.#dropped || (this.#isOver && this.count <= count);
    return isLost ? undefined : this.#news.slice(count - this.#dropped);
  }

  /** Asks until no reader has waited for a while. Throws when the database cannot be read. */
  async run(): Promise<void> {
    const mayEnd = () => this.#waiting === 0 && performance.now() - this.#usedAt > idleMs;
    while (!this.#signal.aborted && !mayEnd()) {
      // In the middle of many changes it goes on at once: a reader that got the first ones reads the others by itself, and then waits again.
      if (this.#at.place === null || this.#waiting === 0) await pause(everyMs, this.#signal);
      if (this.#waiting === 0) continue;
      this.#asking = this.#ask();
      if ((await this.#asking) === "too_old") break;
    }
    // From here on each reader reads by itself.
    this.#isOver = true;
    this.#tick.resolve();
  }

  /** Ends all waits with an error. */
  fail(error: unknown): void {
    this.#tick.promise.catch(() => {});
    this.#tick.reject(error);
  }

  async #ask(): Promise<"asked" | "too_old"> {
    const read = await this.#reads.inTurn(this.#asked.organizer, (db) => readLines(db, this.#asked, this.#at));
    if (read === undefined) return "too_old";
    this.#at = read.cursor;
    if (read.bytes.length === 0) return "asked";
    const cursor = writeCursor(read.cursor);
    const { bytes, isComplete } = read;
    this.#news.push({ bytes, isComplete, after: this.#lastText, cursor, readAt: performance.now() });
    this.#lastText = cursor;
    this.#dropOld();
    this.#tick.resolve();
    this.#tick = Promise.withResolvers();
    return "asked";
  }

  #dropOld(): void {
    const oldest = performance.now() - idleMs;
    const isFull = () => this.#news.length > mostNews || sizeOf(this.#news) > mostBytes;
    while (isFull() || (this.#news[0]?.readAt ?? oldest) < oldest) {
      this.#news.shift();
      this.#dropped += 1;
    }
  }
}

function sizeOf(news: readonly News[]): number {
  return news.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** The followers of all scopes that readers wait for. */
export class Followers {
  readonly #reads: Reads;
  readonly #all = new Map<string, Promise<Follower>>();
  readonly #stopping = new AbortController();

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  of(asked: Asked, scope: string): Promise<Follower> {
    const key = `${asked.organizer}/${scope}`;
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    // Without the context of the first reader: the others wait on when it goes away.
    return runInContext({}, () => {
      const opened = Follower.open(this.#reads, { asked, scope, signal: this.#stopping.signal });
      this.#all.set(key, opened);
      void this.#run(key, opened);
      return opened;
    });
  }

  /** Ends all waits: readers ask another process. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(key: string, opened: Promise<Follower>): Promise<void> {
    try {
      const follower = await opened;
      await follower.run().catch((error: unknown) => follower.fail(error));
    } catch {
      // The readers that asked for it get the error.
    } finally {
      this.#all.delete(key);
    }
  }
}

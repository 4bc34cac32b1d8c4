/** Counts of what was stored within one period. */
interface StoredCell {
  /** The beginning of the period, in seconds since 1970. */
  readonly storedIn: number;
}

/** A transaction stores its scans under the time of its beginning: later seconds may still get scans. */
const unsettled = 5;

/** In seconds: after a failed read no more than this is read again. */
const shortest = 60;

/** Counts of the last minutes, kept up to date by reading what was stored since the last time. Times are seconds since 1970. */
export class StoredCells<C extends StoredCell> {
  readonly #readsBack: number;
  readonly #keeps: number;
  readonly #width: number;
  readonly #cells = new Map<number, C[]>();
  #readUntil = 0;

  constructor({
    readsBack,
    keeps = readsBack,
    width,
  }: {
    /** How far the first read goes back. */
    readonly readsBack: number;
    /** How far back cells are kept. */
    readonly keeps?: number;
    /** Of a cell. */
    readonly width: number;
  }) {
    this.#readsBack = readsBack;
    this.#keeps = keeps;
    this.#width = width;
  }

  /** From which second on what was stored has to be read: the beginning of a cell. */
  readFrom(now: number): number {
    const from = Math.max(now - this.#readsBack, Math.min(this.#readUntil, now) - unsettled);
    return Math.floor(from / this.#width) * this.#width;
  }

  /** Takes what was stored since a second, which replaces what was known of that time. */
  take(now: number, { from, cells }: { readonly from: number; readonly cells: readonly C[] }): void {
    for (const storedIn of this.#cells.keys())
      if (storedIn >= from || storedIn < now - this.#keeps) this.#cells.delete(storedIn);
    for (const cell of cells) {
      const known = this.#cells.get(cell.storedIn);
      if (known === undefined) this.#cells.set(cell.storedIn, [cell]);
      else known.push(cell);
    }
    this.#readUntil = now;
  }

  /** After a read that failed: a long one would take too long again, so what lies back further than a minute is given up. */
  giveUpPast(now: number): void {
    this.#readUntil = Math.max(this.#readUntil, now - shortest);
  }

  get cells(): C[] {
    return [...this.#cells.values()].flat();
  }
}

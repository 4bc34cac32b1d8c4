/** Scans of one device at one gate that were stored within the same ten seconds and made within the same ten seconds. */
export interface GateCell {
  /** Seconds since 1970, the beginning of the ten. */
  readonly storedIn: number;
  /** The same; a scan that is dated later than it came counts when it came. */
  readonly madeIn: number;
  readonly gate: number | null;
  readonly device: number | null;
  readonly scans: number;
  readonly refused: number;
  /** How many of them are dated over a minute later than they came. */
  readonly ahead: number;
  /** By how many seconds the worst of these. */
  readonly secondsAhead: number;
  /** The newest, in microseconds since 1970. */
  readonly lastAt: number;
}

/** The width of a cell, in seconds. */
export const cellSeconds = 10;

/** What alarms are decided by, in seconds. */
export const alarmMemory = 1200;

/** A transaction stores its scans under the time of its beginning: later seconds may still get scans. */
const unsettled = 5;

/** The scans of one event within the last 20 minutes, kept up to date by reading what was stored since the last time. */
export class GateScans {
  /** By the ten seconds in which they were stored. */
  readonly #cells = new Map<number, GateCell[]>();
  #readUntil = 0;

  /** From which second on what was stored has to be read: the beginning of a cell. */
  readFrom(now: number): number {
    return toCell(Math.max(now - alarmMemory, Math.min(this.#readUntil, now) - unsettled));
  }

  /** Takes what was stored since a second, which replaces what was known of that time. */
  take(now: number, { from, cells }: { readonly from: number; readonly cells: readonly GateCell[] }): void {
    for (const storedIn of this.#cells.keys())
      if (storedIn >= from || storedIn < now - alarmMemory) this.#cells.delete(storedIn);
    for (const cell of cells) {
      const known = this.#cells.get(cell.storedIn);
      if (known === undefined) this.#cells.set(cell.storedIn, [cell]);
      else known.push(cell);
    }
    this.#readUntil = now;
  }

  /** Gives up what was not read until now. */
  skipPast(now: number): void {
    this.#readUntil = Math.max(this.#readUntil, now - unsettled);
  }

  get cells(): GateCell[] {
    return [...this.#cells.values()].flat();
  }
}

/** The ten seconds in which a second is. */
export function toCell(second: number): number {
  return Math.floor(second / cellSeconds) * cellSeconds;
}

import { StoredCells } from "./stored-cells.ts";

/** Scans of one device at one gate that were stored within the same ten seconds and made within the same ten seconds. */
export interface GateCell {
  /** Seconds since 1970, the beginning of the ten. */
  readonly storedIn: number;
  /** The same; a scan that is dated later than it arrived counts when it arrived. */
  readonly madeIn: number;
  readonly gate: number | null;
  readonly device: number | null;
  readonly scans: number;
  readonly refused: number;
  /** The number of these scans that are dated over a minute later than they arrived. */
  readonly ahead: number;
  /** The largest of these differences, in seconds. */
  readonly secondsAhead: number;
  /** The newest, in microseconds since 1970. */
  readonly lastAt: number;
}

export const cellSeconds = 10;

/** What alarms are decided by, in seconds. */
export const alarmMemory = 1200;

/** The scans of one event within the last 20 minutes. */
export class GateScans extends StoredCells<GateCell> {
  constructor() {
    super({ readsBack: alarmMemory, width: cellSeconds });
  }
}

export function toCell(second: number): number {
  return Math.floor(second / cellSeconds) * cellSeconds;
}

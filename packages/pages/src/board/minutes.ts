import type { LastHour } from "./live.ts";

/** The columns of a chart: minutes in seconds since 1970, and what was scanned in each. */
export interface MinuteColumns {
  readonly at: number[];
  readonly entries: number[];
  readonly exits: number[];
  readonly refused: number[];
}

/**
 * Fills the last hour minute by minute: minutes without scans are 0. The minute that is not over is left out, so that a rate does
 * not seem to fall.
 */
export function fillHour({ at, minutes }: LastHour, gate?: number | null): MinuteColumns {
  const last = Math.floor(Date.parse(at) / 60_000) - 1;
  const columns: MinuteColumns = { at: [], entries: [], exits: [], refused: [] };
  const sums = new Map<number, { entries: number; exits: number; refused: number }>();
  for (const each of minutes) {
    if (gate !== undefined && each.gate !== gate) continue;
    const minute = Math.floor(Date.parse(each.at) / 60_000);
    const sum = sums.get(minute) ?? { entries: 0, exits: 0, refused: 0 };
    sum.entries += each.entries;
    sum.exits += each.exits;
    sum.refused += each.refused;
    sums.set(minute, sum);
  }
  for (let minute = last - 58; minute <= last; minute += 1) {
    const sum = sums.get(minute);
    columns.at.push(minute * 60);
    columns.entries.push(sum?.entries ?? 0);
    columns.exits.push(sum?.exits ?? 0);
    columns.refused.push(sum?.refused ?? 0);
  }
  return columns;
}

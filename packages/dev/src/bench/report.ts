import { columns } from "@tessera/cli/command/columns";

/** A line of the report. A figure that is not promised is always kept. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly promised?: string;
  readonly isKept?: boolean;
}

export function figure(what: string, measured: string): Row {
  return { what, measured };
}

/** A figure with a limit that it must not pass. */
export function atMost(what: string, value: number, limit: number, unit: string): Row {
  return { what, measured: `${short(value)} ${unit}`, promised: `${short(limit)} ${unit}`, isKept: value <= limit };
}

/** A figure that must reach a limit. */
export function atLeast(what: string, value: number, limit: number, unit: string): Row {
  return { what, measured: `${short(value)} ${unit}`, promised: `${short(limit)} ${unit}`, isKept: value >= limit };
}

/** Three digits, or all of those before the point. */
export function short(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/** Prints all figures. Where a promise is broken, the benchmark fails. */
export function report(rows: readonly Row[]): void {
  const lines = rows.map(({ what, measured, promised = "", isKept = true }) => [
    what,
    measured,
    isKept ? promised : `${promised} (missed)`,
  ]);
  process.stdout.write(`${columns([["", "measured", "promised"], ...lines])}\n`);
  if (rows.some(({ isKept }) => isKept === false)) process.exitCode = 1;
}

/** How serious a finding is. `skipped` is what could not be examined, or need not be. */
export type Level = "ok" | "warning" | "wrong" | "skipped";

/** One thing that an examination found. */
export interface Finding {
  readonly level: Level;
  readonly what: string;
  /** What follows from it, or how it is known. */
  readonly why?: string;
  /** What to do about it, with the setting or command by its name. */
  readonly mend?: string;
}

/** What examines one part of the platform. */
export interface Examination {
  /** The part, as a heading; examinations of one part stand together. */
  readonly area: string;
  /** Told within an area where one of several does not end: `checkin`. */
  readonly subject?: string;
  examine(signal: AbortSignal): readonly Finding[] | Promise<readonly Finding[]>;
}

/** A finding with the part that it is about. */
export interface PlacedFinding extends Finding {
  readonly area: string;
}

/** States that something is as it should be. */
export function well(what: string): Finding {
  return { level: "ok", what };
}

/** States that something was not examined, and why. */
export function skipped(what: string, why: string): Finding {
  return { level: "skipped", what, why };
}

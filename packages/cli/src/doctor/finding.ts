/** How serious a finding is. `skipped`: it could not be examined, or need not be. */
export type Level = "ok" | "warning" | "wrong" | "skipped";

/** One thing that an examination found. */
export interface Finding {
  readonly level: Level;
  readonly what: string;
  /** The consequence, or the cause. */
  readonly why?: string | undefined;
  /** What to do about it, with the name of the setting or command. */
  readonly mend?: string | undefined;
}

/** Examines one part of the platform. */
export interface Examination {
  /** The part, as a heading; examinations of one part are printed together. */
  readonly area: string;
  /** What is examined, for a sentence: `the facts of checkin`. */
  readonly subject: string;
  /** The settings that it uses. If one cannot be read, the examination is skipped. */
  readonly settings?: RegExp;
  examine(signal: AbortSignal): readonly Finding[] | Promise<readonly Finding[]>;
}

/** A finding and the part that it is about. */
export interface PlacedFinding extends Finding {
  readonly area: string;
}

/** Thrown by an examination that has nothing to examine; the message is the reason. */
export class Skip extends Error {
  override readonly name = "Skip";
}

type Explanation = Pick<Finding, "why" | "mend">;

/** Reports that something is as it should be. */
export function ok(what: string): Finding {
  return { level: "ok", what };
}

/** Reports that something should be changed, though the platform works. */
export function warning(what: string, explanation: Explanation): Finding {
  return { level: "warning", what, ...explanation };
}

/** Reports that something keeps the platform from working. */
export function wrong(what: string, explanation: Explanation): Finding {
  return { level: "wrong", what, ...explanation };
}

/** Reports that something was not examined, and why. */
export function skipped(what: string, why: string): Finding {
  return { level: "skipped", what, why };
}

/** Keeps the findings, and drops the conditions that are false: `isOld && wrong(…)`. */
export function only(candidates: readonly (Finding | false)[]): Finding[] {
  return candidates.filter((candidate) => candidate !== false);
}

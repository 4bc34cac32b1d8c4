/** The level of a finding. `skipped`: it could not be examined, or need not be. */
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

/** Thrown by an examination without anything to examine; the message is the reason. */
export class Skip extends Error {
  override readonly name = "Skip";
}

/** Something is as it should be. */
export function ok(what: string): Finding {
  return { level: "ok", what };
}

/** Something was not examined. */
export function skipped(what: string, why: string): Finding {
  return { level: "skipped", what, why };
}

/** Something should be changed, though the platform works. Written as it is printed, see `written`. */
export const warning = written("warning");

/** Something keeps the platform from working. Written as it is printed, see `written`. */
export const wrong = written("wrong");

/** Makes a finding of a text: its first line says what, the next one why, and the one with an arrow what to do. */
function written(level: Level) {
  return (texts: TemplateStringsArray, ...values: readonly (string | number | undefined)[]): Finding => {
    // A value may be a message from outside, with lines of its own.
    const inline = values.map((value = "") => String(value).replace(/\s*\n\s*/g, " "));
    const lines = String.raw({ raw: texts }, ...inline).split("\n");
    const [what = "", ...more] = lines.map((line) => line.trim()).filter((line) => line !== "");
    const mend = more.find((line) => line.startsWith("→ "))?.slice(2);
    return { level, what, why: more.find((line) => !line.startsWith("→")), mend };
  };
}

/** Keeps the findings, and drops the conditions that are false: `isOld && wrong…`. */
export function only(candidates: readonly (Finding | false)[]): Finding[] {
  return candidates.filter((candidate) => candidate !== false);
}

/** More than a person reads at once. */
export const mostNamed = 5;

/** Names the first of some things, and that there are others. */
export function nameFirst(names: readonly string[]): string {
  return `${names.slice(0, mostNamed).join(", ")}${names.length > mostNamed ? ", …" : ""}`;
}

/** Writes how many there are of something: `1 fact`, `7 facts`. */
export function describeCount(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** Writes a length of time in its greatest unit: `2 hours`. */
export function describeAge(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60 };
  const [unit, length] = Object.entries(units).find(([, each]) => seconds >= each) ?? ["second", 1];
  return describeCount(Math.floor(seconds / length), unit);
}

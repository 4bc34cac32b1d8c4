import type { Source } from "./read-sources.ts";

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly what: string;
}

/** A rule that can be read off the files, with the files that show that it bites. */
export interface Rule {
  readonly name: string;
  /** What to do about a finding. */
  readonly remedy: string;
  find(sources: readonly Source[]): Finding[];
  /** Each of these repositories breaks the rule: paths and texts. */
  readonly broken: readonly Readonly<Record<string, string>>[];
  /** Each of these, which looks much like it, does not. */
  readonly sound: readonly Readonly<Record<string, string>>[];
}

/** Makes a finding of every match of a pattern in one view of a file. */
export function findPattern(source: Source, view: "text" | "code" | "bare", pattern: RegExp): Finding[] {
  const lines = source[view].split("\n");
  return lines.flatMap((line, index) => {
    const match = new RegExp(pattern, pattern.flags.replaceAll("g", "")).exec(line);
    return match === null ? [] : [{ path: source.path, line: index + 1, what: match[0].trim() }];
  });
}

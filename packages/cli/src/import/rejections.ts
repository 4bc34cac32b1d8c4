import { writeFileSync } from "node:fs";
import { fault } from "../faults.ts";
import { describeErrors, type ImportAnswer } from "./import-answer.ts";

type Rejection = ImportAnswer["errors"][number];

type Warning = ImportAnswer["warnings"][number];

/** More groups are only counted. */
const mostGroups = 20;

/** Lines that are named of a group. */
const mostLines = 3;

/** Describes rejected lines, equal ones together: `310 × order: positions.0.item: …, lines 1, 98, 195 …`. */
export function describeRejections({ errors, rejected }: Pick<ImportAnswer, "errors" | "rejected">): string[] {
  return describeLines(errors, rejected);
}

/** Describes warnings in the same way. */
export function describeWarnings({ warnings, warned }: Pick<ImportAnswer, "warnings" | "warned">): string[] {
  return describeLines(
    warnings.map(({ warnings: errors, ...line }) => ({ ...line, errors })),
    warned,
  );
}

function describeLines(errors: readonly Rejection[], all: number): string[] {
  const groups = Map.groupBy(errors, ({ kind, errors }) => `${kind ?? ""}: ${describeErrors(errors)}`);
  const largest = [...groups.values()].toSorted((one, other) => other.length - one.length);
  const shown = largest.slice(0, mostGroups);
  const untold = all - shown.reduce((count, group) => count + group.length, 0);
  return [...shown.flatMap(describeGroup), ...(untold > 0 ? [`… ${untold} more`] : [])];
}

function describeGroup(group: readonly Rejection[]): string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { line, kind } = first;
  const what = describeErrors(first.errors);
  if (group.length === 1) return [`line ${line}${kind === null ? "" : ` (${kind})`}: ${what}`];
  const named = group.slice(0, mostLines).map((each) => each.line);
  const lines = `lines ${named.join(", ")}${group.length > mostLines ? " …" : ""}`;
  return [`${group.length} × ${kind === null ? "" : `${kind}: `}${what.replace(/\.$/, "")}, ${lines}`];
}

/** Writes one JSON line per rejected line and per warned one, as the platform answered it. */
export function writeRejections(file: string, errors: readonly (Rejection | Warning)[]): void {
  try {
    writeFileSync(file, errors.map((each) => `${JSON.stringify(each)}\n`).join(""));
  } catch (error) {
    throw fault("errors_unwritable", `${file} cannot be written: name another file with --errors`, { cause: error });
  }
}

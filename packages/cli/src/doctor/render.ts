import { styleText } from "node:util";
import type { Level } from "@tessera/kit/service/finding";
import { visible } from "../command/printable.ts";
import type { PlacedFinding } from "./diagnose.ts";

/** The color of each level. */
const styles = { ok: "green", warning: "yellow", wrong: "red", skipped: "dim" } as const;

const width = Math.max(...Object.keys(styles).map(({ length }) => length)) + 2;
const indent = " ".repeat(width + 2);

/** Whether something keeps the platform from working. */
export function isUnwell(findings: readonly PlacedFinding[]): boolean {
  return findings.some(({ level }) => level === "wrong");
}

/** Writes findings for a person: the parts in their order, one finding below the other, a summary at the end. */
export function renderText(findings: readonly PlacedFinding[], { colored }: { colored: boolean }): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colored ? styleText(style, text, { validateStream: false }) : text;
  const lines = ({ level, what, why, mend }: PlacedFinding) => [
    `  ${paint(styles[level], level.padEnd(width))}${visible(level === "skipped" ? `${what}: ${why}` : what)}\n`,
    ...(why === undefined || level === "skipped" ? [] : [`${indent}${paint("dim", visible(why))}\n`]),
    ...(mend === undefined ? [] : [`${indent}→ ${visible(mend)}\n`]),
  ];
  const parts = [...Map.groupBy(findings, ({ area }) => area)].map(
    ([area, of]) => `${paint("bold", area)}\n${of.flatMap(lines).join("")}`,
  );
  return `${parts.join("\n")}\n${summary(findings)}\n`;
}

/** Writes findings for a program. */
export function renderJson(findings: readonly PlacedFinding[]): string {
  const ordered = findings.map(({ area, level, what, why, mend }) => ({ area, level, what, why, mend }));
  return `${JSON.stringify({ status: isUnwell(findings) ? "wrong" : "ok", findings: ordered }, undefined, 2)}\n`;
}

function summary(findings: readonly PlacedFinding[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const [bad, doubtful, skipped] = [count("wrong"), count("warning"), count("skipped")];
  // This examination is skipped only if the database does not exist yet or does not run.
  if (bad === 0 && findings.some(({ area, level }) => area === "database" && level === "skipped"))
    return `Nothing runs here: only the settings could be examined, ${skipped} other things were not. Start the platform, or name its database.`;
  const first = bad === 0 ? "Nothing is wrong" : `${bad} ${bad === 1 ? "thing is" : "things are"} wrong`;
  const second = doubtful === 0 ? "" : `, ${doubtful} to think about`;
  return `${first}${second}${skipped === 0 ? "" : `, ${skipped} not examined`}.`;
}

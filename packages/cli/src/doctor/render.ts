import { styleText } from "node:util";
import { visible } from "../printable.ts";
import type { Level, PlacedFinding } from "./finding.ts";

/** The color of each level. */
const styles = { ok: "green", warning: "yellow", wrong: "red", skipped: "dim" } as const;

const width = Math.max(...Object.keys(styles).map(({ length }) => length)) + 2;

/** Whether something keeps the platform from working. */
export function isUnwell(findings: readonly PlacedFinding[]): boolean {
  return findings.some(({ level }) => level === "wrong");
}

/** Writes findings for a person: the parts in their order, one finding below the other, a summary at the end. */
export function renderText(findings: readonly PlacedFinding[], { colored }: { colored: boolean }): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colored ? styleText(style, text, { validateStream: false }) : text;
  const indent = " ".repeat(width + 2);
  const parts = Array.from(
    Map.groupBy(findings, ({ area }) => area),
    ([area, of]) => {
      const lines = of.flatMap(({ level, what, why, mend }) => [
        `  ${paint(styles[level], level.padEnd(width))}${visible(level === "skipped" ? `${what}: ${why}` : what)}`,
        ...(why === undefined || level === "skipped" ? [] : [`${indent}${paint("dim", visible(why))}`]),
        ...(mend === undefined ? [] : [`${indent}→ ${visible(mend)}`]),
      ]);
      return `${paint("bold", area)}\n${lines.join("\n")}\n`;
    },
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
  const remarks = [
    [count("warning"), "to think about"],
    [count("skipped"), "not examined"],
  ] as const;
  const bad = count("wrong");
  // Its examination is left out only where there is no database yet, or where it does not run.
  const isIdle = findings.some(({ area, level }) => area === "database" && level === "skipped");
  if (isIdle && bad === 0)
    return `Nothing runs here: only the settings could be examined, ${count("skipped")} other things were not. Start the platform, or name its database.`;
  const first = bad === 0 ? "Nothing is wrong" : `${bad} ${bad === 1 ? "thing is" : "things are"} wrong`;
  return `${[first, ...remarks.flatMap(([number, text]) => (number === 0 ? [] : `${number} ${text}`))].join(", ")}.`;
}

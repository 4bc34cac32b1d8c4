import { styleText } from "node:util";
import type { Level, PlacedFinding } from "./finding.ts";

/** How each level looks where there are colors. */
const styles = { ok: "green", warning: "yellow", wrong: "red", skipped: "dim" } as const;

const width = Math.max(...Object.keys(styles).map(({ length }) => length)) + 2;

/** Whether what was found makes the platform unwell. */
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
        `  ${paint(styles[level], level.padEnd(width))}${printable(level === "skipped" ? `${what}: ${why}` : what)}`,
        ...(why === undefined || level === "skipped" ? [] : [`${indent}${paint("dim", printable(why))}`]),
        ...(mend === undefined ? [] : [`${indent}→ ${printable(mend)}`]),
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
  const wrong = count("wrong");
  const first = wrong === 0 ? "Nothing is wrong" : `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong`;
  return `${[first, ...remarks.flatMap(([number, text]) => (number === 0 ? [] : `${number} ${text}`))].join(", ")}.`;
}

/** Names may come from anybody: what would move a terminal's cursor is made visible. */
function printable(text: string): string {
  return text.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, "\ufffd");
}

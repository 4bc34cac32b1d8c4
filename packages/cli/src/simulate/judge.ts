import type { Plan } from "./plan.ts";
import { quantile } from "./quantile.ts";
import type { Seen } from "./run-gates.ts";

/** The 99th percentile of a visitor's wait. */
const longestWaitMs = 1000;

/** Offline scans are stored by then. */
const longestUploadMs = 60_000;

/** A row of the report: name, measurement, requirement. */
export type Row = readonly [what: string, measured: string, wanted: string];

export interface Verdict {
  readonly holds: boolean;
  readonly rows: readonly Row[];
}

/** Judges whether gates could work like this. `counted` is the count of the list; undefined: no answer. */
export function judge({ seen, plan, counted }: { seen: Seen; plan: Plan; counted: number | undefined }): Verdict {
  const { waits, admitted, refused, triedAgain, wrong, lost, uploaded, uploadMs } = seen;
  const p99 = quantile(waits, 0.99);
  const inside = admitted + uploaded;
  const rows: { readonly row: Row; readonly fails?: boolean }[] = [
    { row: ["", "measured", "wanted"] },
    { row: ["visitors admitted, refused", `${admitted}, ${refused}`, ""], fails: admitted === 0 },
    { row: ["wait of half of them", ms(quantile(waits, 0.5)), ""] },
    { row: ["wait of 99 of 100", ms(p99), `at most ${ms(longestWaitMs)}`], fails: !(p99 <= longestWaitMs) },
    { row: ["longest wait", ms(quantile(waits, 1)), ""] },
    { row: ["sent again", describe(triedAgain), ""] },
    { row: ["wrong answers", describe(wrong), "0"], fails: total(wrong) > 0 },
    { row: ["without an answer", String(lost), "0"], fails: lost > 0 },
    ...(plan.outageSeconds === 0
      ? []
      : [
          {
            row: [
              `decided without network, stored after ${ms(uploadMs)}`,
              String(uploaded),
              `within ${ms(longestUploadMs)}`,
            ] as Row,
            fails: uploadMs > longestUploadMs,
          },
        ]),
    { row: ["counted by the list", String(counted ?? "no answer"), String(inside)], fails: counted !== inside },
  ];
  return { holds: rows.every(({ fails }) => fails !== true), rows: rows.map(({ row }) => row) };
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function describe(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  return named.length === 0 ? "0" : named.join(", ");
}

function ms(value: number): string {
  return Number.isFinite(value) ? `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms` : "none";
}

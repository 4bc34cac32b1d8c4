import { isObject } from "@tessera/values";
import type { ArrivedScan } from "../arrived-scan.ts";
import { decideScan } from "../decide-scan.ts";
import { dayLength, latest, startOfDay, toInstant, toLocal } from "../local-time.ts";
import { type Circumstances, factsOf } from "../objections.ts";
import { countValues } from "../rules/ask-rules.ts";
import { admits } from "../rules/judge-rules.ts";
import type { NamedTime, RuleNode } from "../rules/read-rules.ts";
import { failed, toNumber } from "../rules/rule-values.ts";
import type { Match } from "../ticket.ts";

const second = 1_000_000;
const minute = 60 * second;

/** Rules of days and times of day repeat within a week; daylight saving may move them once. */
const days = 9;

/** More values of rules take longer than others should wait. Each moment and each gate evaluates all of them. */
const mostEvaluated = 200_000;
const mostTries = 1000;

/** The times that rules compare, and the dates and entries of the tickets. Few rules and codes have more. */
const mostTimes = 200;
const mostDates = 20;

/** A comparison of a time has no more numbers. */
const mostNumbers = 2;

/** How often rules may be evaluated for the tickets of a code. */
function triesOf<M extends Match>({ rules, matches }: Circumstances<M>): number {
  const values = Math.max(1, matches.length) * (rules === null ? 1 : countValues(rules));
  return Math.min(mostTries, Math.ceil(mostEvaluated / values));
}

/** Finds the next time at which a scan would be admitted, if nothing else changes; undefined: none is in sight. */
export function findNextAdmission<M extends Match>(scan: ArrivedScan, about: Circumstances<M>): number | undefined {
  const moments = momentsOf(scan, about).map(Math.round);
  const later = [...new Set(moments.flatMap((at) => [at, at + second]))].filter((at) => at > scan.at && at <= latest);
  return later
    .sort((a, b) => a - b)
    .slice(0, triesOf(about))
    .find((at) => isAdmitted({ ...scan, at }, about));
}

/** The rules first: a refusal by them would be put into words, which takes ten times as long. */
function isAdmitted<M extends Match>(scan: ArrivedScan, about: Circumstances<M>): boolean {
  const { rules, matches } = about;
  const isAllowed = rules === null || matches.some((match) => admits(rules, factsOf(scan, about, match)));
  return isAllowed && decideScan(scan, about).outcome === "admitted";
}

/** The moments at which validity or rules may change. */
function momentsOf<M extends Match>(
  { at }: ArrivedScan,
  { rules, reader: { zone }, matches }: Circumstances<M>,
): number[] {
  const validity = matches.flatMap(({ ticket }) => ticket.validFrom ?? []);
  if (rules === null || zone === null) return validity;
  const midnight = startOfDay(toLocal(at, zone));
  const onEachDay = (time: number) =>
    Array.from({ length: days }, (_, day) =>
      toInstant(midnight + day * dayLength + time, zone, { ambiguous: "earlier" }),
    );
  const dates = (kind: "from" | "to" | "admission") => firstOf(matches.map((match) => match.dates[kind]));
  const ofKind = { date_from: dates("from"), date_to: dates("to"), date_admission: dates("admission") };
  const toMoments = (time: NamedTime): readonly number[] => {
    if (time.kind === "custom") return [time.at];
    return time.kind === "customtime" ? onEachDay(time.time) : ofKind[time.kind];
  };
  const entries = firstOf(matches.flatMap(({ scans }) => [scans[0]?.at, scans.at(-1)?.at]));
  const compared = comparedTimes(rules.root)
    .slice(0, mostTimes)
    .flatMap(({ time, minutes }) =>
      (time === "entry" ? entries : toMoments(time)).flatMap((each) => shift(each, minutes)),
    );
  return [...validity, ...onEachDay(0), ...compared];
}

function firstOf(times: readonly (number | null | undefined)[]): number[] {
  return [...new Set(times.flatMap((at) => at ?? []))].slice(0, mostDates);
}

/** A time that rules compare, and the minutes that shift it. */
interface ComparedTime {
  readonly time: NamedTime | "entry";
  readonly minutes: readonly number[];
}

const shift = (at: number, minutes: readonly number[]): number[] => [
  at,
  ...minutes.flatMap((by) => [at + by * minute, at - by * minute, at + (by + 1) * minute]),
];

/** The times in rules, each with the numbers of its own comparison. */
function comparedTimes(root: RuleNode): ComparedTime[] {
  const found = new Map<string, ComparedTime>();
  const visit = (node: RuleNode, minutes: readonly number[]): void => {
    if (node.kind === "operation") {
      const numbers = node.operands
        .flatMap((each) => (each.kind === "constant" && each.value !== failed ? (toNumber(each.value) ?? []) : []))
        .slice(0, mostNumbers);
      for (const operand of node.operands) visit(operand, numbers);
    } else if (node.kind === "time" || node.kind === "count") {
      found.set(JSON.stringify([node.time, minutes]), { time: node.time, minutes });
    } else if (node.kind === "variable" && node.name.startsWith("minutes_since")) {
      found.set(JSON.stringify(["entry", minutes]), { time: "entry", minutes });
    }
  };
  visit(root, []);
  return [...found.values()];
}

export interface Named {
  readonly id: number;
  readonly name: string;
}

/** Finds the gates that rules name and that would admit a scan now. */
export function findAdmittingGates<M extends Match>(
  scan: ArrivedScan,
  { about, rules }: { readonly about: Circumstances<M>; readonly rules: unknown },
): Named[] {
  const others = gatesIn(rules).filter(({ id }) => id !== scan.gate);
  const distinct = [...new Map(others.map((gate) => [gate.id, gate])).values()];
  return distinct.slice(0, triesOf(about)).filter(({ id }) => isAdmitted({ ...scan, gate: id }, about));
}

/** The gates in `{"lookup": ["gate", id, name]}`. */
function gatesIn(rules: unknown): Named[] {
  if (Array.isArray(rules)) return (rules as unknown[]).flatMap(gatesIn);
  if (!isObject(rules)) return [];
  const { lookup } = rules;
  if (Array.isArray(lookup) && lookup[0] === "gate") {
    const [, id, name] = lookup as unknown[];
    return Number.isSafeInteger(Number(id)) ? [{ id: Number(id), name: typeof name === "string" ? name : "" }] : [];
  }
  return Object.values(rules).flatMap(gatesIn);
}

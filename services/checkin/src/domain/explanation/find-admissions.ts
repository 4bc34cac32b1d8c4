import { isObject } from "@tessera/values";
import type { ArrivedScan } from "../arrived-scan.ts";
import { decideScan } from "../decide-scan.ts";
import { dayLength, latest, startOfDay, toInstant, toLocal } from "../local-time.ts";
import { type Circumstances, factsOf } from "../objections.ts";
import { countValues } from "../rules/ask-rules.ts";
import { admits } from "../rules/judge-rules.ts";
import type { NamedTime, RuleNode, Rules } from "../rules/read-rules.ts";
import type { Match } from "../ticket.ts";

const second = 1_000_000;
const minute = 60 * second;

/** Rules of days and times of day repeat within a week; daylight saving may move them once. */
const days = 9;

/** More values of rules take longer than others should wait. Each moment and each gate evaluates all of them. */
const mostEvaluated = 200_000;
const mostTries = 1000;

/** The times in rules, and the numbers that may shift them. Few rules have more. */
const mostTimes = 200;
const mostMinutes = 20;

/** How often rules may be evaluated. */
function triesOf(rules: Rules | null): number {
  return rules === null ? mostTries : Math.min(mostTries, Math.floor(mostEvaluated / countValues(rules)));
}

/** Finds the next time at which a scan would be admitted, if nothing else changes; undefined: none is in sight. */
export function findNextAdmission<M extends Match>(scan: ArrivedScan, about: Circumstances<M>): number | undefined {
  const moments = momentsOf(scan, about).flatMap((at) => [at, at + second]);
  const later = [...new Set(moments)].filter((at) => at > scan.at && at <= latest).sort((a, b) => a - b);
  return later.slice(0, triesOf(about.rules)).find((at) => isAdmitted({ ...scan, at }, about));
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
  const nodes = nodesOf(rules.root);
  const minutes = firstOf(
    nodes.flatMap((node) => (node.kind === "constant" && typeof node.value === "number" ? [node.value * minute] : [])),
    mostMinutes,
  );
  const midnight = startOfDay(toLocal(at, zone));
  const onEachDay = (time: number) =>
    Array.from({ length: days }, (_, day) =>
      toInstant(midnight + day * dayLength + time, zone, { ambiguous: "earlier" }),
    );
  const toMoments = (time: NamedTime, { dates }: Match): number[] => {
    switch (time.kind) {
      case "custom":
        return [time.at];
      case "customtime":
        return onEachDay(time.time);
      case "date_from":
        return [dates.from ?? []].flat();
      case "date_to":
        return [dates.to ?? []].flat();
      case "date_admission":
        return [dates.admission ?? []].flat();
    }
  };
  const times = nodes.flatMap((node) =>
    node.kind === "time" || node.kind === "count" ? matches.flatMap((match) => toMoments(node.time, match)) : [],
  );
  const entries = matches.flatMap(({ scans }) => [scans[0]?.at ?? [], scans.at(-1)?.at ?? []].flat());
  const shifted = firstOf([...times, ...entries], mostTimes).flatMap((time) => [
    time,
    ...minutes.flatMap((by) => [time + by, time - by, time + by + minute]),
  ]);
  return [...validity, ...onEachDay(0), ...shifted];
}

function firstOf(values: readonly number[], most: number): number[] {
  return [...new Set(values)].slice(0, most);
}

function nodesOf(node: RuleNode): readonly RuleNode[] {
  return node.kind === "operation" ? [node, ...node.operands.flatMap(nodesOf)] : [node];
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
  return distinct.slice(0, triesOf(about.rules)).filter(({ id }) => isAdmitted({ ...scan, gate: id }, about));
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

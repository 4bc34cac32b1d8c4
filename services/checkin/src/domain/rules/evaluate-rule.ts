import { dayLength, isoWeekday, startOfDay, toInstant, toLocal } from "../local-time.ts";
import { applyOperator } from "./apply-operator.ts";
import type { NamedTime, RuleNode } from "./read-rules.ts";
import { failed, type Moment, type Outcome, type Value } from "./rule-values.ts";
import type { CountingOperator, Variable } from "./rule-words.ts";

/** What the rules of a list may ask about a scan. */
export interface RuleFacts {
  /** When the ticket was scanned: microseconds. */
  readonly at: number;
  /** The event's. */
  readonly timezone: string;
  readonly item: number;
  readonly variation: number | null;
  /** Of the scanning device. */
  readonly gate: number | null;
  /** Successful scans of this ticket on this list, newest first; of two at the same time, the last to arrive first. */
  readonly scans: readonly { readonly type: "entry" | "exit"; readonly at: number }[];
  /** Of the ticket's date, where it has one, otherwise of the event. */
  readonly dates: { readonly from: number | null; readonly to: number | null; readonly admission: number | null };
}

/** The facts, and what follows from them, worked out when it is first asked for. */
export interface Situation {
  readonly facts: RuleFacts;
  /** When the ticket was let in, newest first. */
  readonly entries: readonly number[];
  /** What the wall clock of the event showed at the scan. */
  local: number | undefined;
}

/** Prepares facts for being asked many times. */
export function toSituation(facts: RuleFacts): Situation {
  const entries = facts.scans.filter(({ type }) => type === "entry").map(({ at }) => at);
  return { facts, entries, local: undefined };
}

/** Works out what part of the rules comes to. Every operand is evaluated: one that fails fails the whole. */
export function evaluate(node: RuleNode, situation: Situation): Outcome {
  switch (node.kind) {
    case "constant":
      return node.value;
    case "variable":
      return readVariable(node.name, situation);
    case "time":
      return findTime(node.time, situation);
    case "count": {
      const limit = findTime(node.time, situation);
      return limit === failed ? failed : countEntries(node.name, limit, situation);
    }
    case "operation": {
      const values: Value[] = [];
      for (const operand of node.operands) {
        const value = evaluate(operand, situation);
        if (value === failed) return failed;
        values.push(value);
      }
      return applyOperator(node.operator, values);
    }
  }
}

/** Finds the moment that a named time is, for this scan; an event without such a date has none. */
export function findTime(time: NamedTime, situation: Situation): Moment | typeof failed {
  const { dates, timezone } = situation.facts;
  switch (time.kind) {
    case "custom":
      return { at: time.at };
    case "customtime": {
      const local = startOfDay(localOf(situation)) + time.time;
      return { at: toInstant(local, timezone, { ambiguous: "earlier" }) };
    }
    case "date_from":
      return toMoment(dates.from);
    case "date_to":
      return toMoment(dates.to ?? dates.from);
    case "date_admission":
      return toMoment(dates.admission ?? dates.from);
  }
}

function toMoment(at: number | null): Moment | typeof failed {
  return at === null ? failed : { at };
}

function readVariable(name: Variable, situation: Situation): Value {
  const { facts, entries } = situation;
  switch (name) {
    case "product":
      return facts.item;
    case "variation":
      return facts.variation;
    case "gate":
      return facts.gate;
    case "now":
      return { at: facts.at };
    case "now_isoweekday":
      return isoWeekday(localOf(situation));
    case "entry_status":
      return facts.scans[0]?.type === "entry" ? "present" : "absent";
    case "entries_number":
      return entries.length;
    case "entries_today": {
      const midnight = toInstant(startOfDay(localOf(situation)), facts.timezone, { ambiguous: "earlier" });
      return entries.filter((at) => at >= midnight).length;
    }
    case "entries_days":
      return countDays(entries, facts.timezone);
    case "minutes_since_last_entry":
      return minutesBetween(entries[0], facts.at);
    case "minutes_since_first_entry":
      return minutesBetween(entries.at(-1), facts.at);
  }
}

function countEntries(name: CountingOperator, { at: limit }: Moment, { entries, facts }: Situation): number {
  const since = name === "entries_since" || name === "entries_days_since";
  const counted = entries.filter((at) => at >= limit === since);
  return name === "entries_since" || name === "entries_before" ? counted.length : countDays(counted, facts.timezone);
}

function countDays(entries: readonly number[], timezone: string): number {
  return new Set(entries.map((at) => Math.floor(toLocal(at, timezone) / dayLength))).size;
}

/** Whole minutes that have passed, or -1 where there is nothing since which they could have. */
function minutesBetween(entry: number | undefined, at: number): number {
  return entry === undefined ? -1 : Math.floor((at - entry) / 60_000_000);
}

function localOf(situation: Situation): number {
  situation.local ??= toLocal(situation.facts.at, situation.facts.timezone);
  return situation.local;
}

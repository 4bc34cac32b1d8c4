import { isoWeekday, startOfDay, toInstant, toLocal, type Zone } from "../local-time.ts";
import { applyOperator } from "./apply-operator.ts";
import { countDays, countSince, type EntryDays } from "./count-entries.ts";
import type { NamedTime, RuleNode } from "./read-rules.ts";
import { failed, type Moment, type Outcome, type Value } from "./rule-values.ts";
import type { CountingOperator, Variable } from "./rule-words.ts";

/** What rules ask of an earlier scan. */
export interface RuledScan {
  readonly type: "entry" | "exit";
  readonly at: number;
}

/** The facts of a scan that the rules of a list may ask for. */
export interface RuleFacts {
  /** When the ticket was scanned, in microseconds. */
  readonly at: number;
  /** The zone of the event; null: there is no such time zone. */
  readonly zone: Zone | null;
  readonly item: number;
  readonly variation: number | null;
  /** The gate of the scanning device. */
  readonly gate: number | null;
  /** Successful scans of this ticket on this list, newest first; of equal times the last to arrive first. */
  readonly scans: readonly RuledScan[];
  /** The dates of the ticket's date, else of the event. */
  readonly dates: { readonly from: number | null; readonly to: number | null; readonly admission: number | null };
}

/**
 * The facts, with derived values computed at their first use.
 *
 * Rules can ask the same a thousand times, and again for the explanation, about a ticket with a thousand entries.
 */
export interface Situation {
  readonly facts: RuleFacts;
  /** The instants of the ticket's entries, newest first. */
  readonly entries: readonly number[];
  readonly variables: Map<Variable, Outcome>;
  /** Moments of the local day of the scan, by time of day. */
  readonly clock: Map<number, Moment>;
  /** The wall clock of the event at the scan; failed: its time zone is unknown. */
  local: number | typeof failed | undefined;
  days: EntryDays | typeof failed | undefined;
}

/** Prepares facts for many evaluations. */
export function toSituation(facts: RuleFacts): Situation {
  const entries = facts.scans.filter(({ type }) => type === "entry").map(({ at }) => at);
  return { facts, entries, variables: new Map(), clock: new Map(), local: undefined, days: undefined };
}

/** Evaluates a part of the rules. Every operand is evaluated: if one fails, the operation fails. */
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

/** Finds the moment of a named time for this scan; failed: the event has no such date. */
export function findTime(time: NamedTime, situation: Situation): Moment | typeof failed {
  const { dates } = situation.facts;
  switch (time.kind) {
    case "custom":
      return { at: time.at };
    case "customtime":
      return findTimeOfDay(time.time, situation);
    case "date_from":
      return toMoment(dates.from);
    case "date_to":
      return toMoment(dates.to ?? dates.from);
    case "date_admission":
      return toMoment(dates.admission ?? dates.from);
  }
}

function findTimeOfDay(time: number, situation: Situation): Moment | typeof failed {
  const { zone } = situation.facts;
  const local = localOf(situation);
  if (local === failed || zone === null) return failed;
  let moment = situation.clock.get(time);
  if (moment === undefined) {
    moment = { at: toInstant(startOfDay(local) + time, zone, { ambiguous: "earlier" }) };
    situation.clock.set(time, moment);
  }
  return moment;
}

function toMoment(at: number | null): Moment | typeof failed {
  return at === null ? failed : { at };
}

function readVariable(name: Variable, situation: Situation): Outcome {
  let value = situation.variables.get(name);
  if (value === undefined) {
    value = findVariable(name, situation);
    situation.variables.set(name, value);
  }
  return value;
}

function findVariable(name: Variable, situation: Situation): Outcome {
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
    case "now_isoweekday": {
      const local = localOf(situation);
      return local === failed ? failed : isoWeekday(local);
    }
    case "entry_status":
      return facts.scans[0]?.type === "entry" ? "present" : "absent";
    case "entries_number":
      return entries.length;
    case "entries_today": {
      const midnight = findTimeOfDay(0, situation);
      return midnight === failed ? failed : countSince(entries, midnight.at);
    }
    case "entries_days":
      return countDaysAround("entries_days_since", entries.length, situation);
    case "minutes_since_last_entry":
      return minutesBetween(entries[0], facts.at);
    case "minutes_since_first_entry":
      return minutesBetween(entries.at(-1), facts.at);
  }
}

function countEntries(name: CountingOperator, { at }: Moment, situation: Situation): Outcome {
  const since = countSince(situation.entries, at);
  switch (name) {
    case "entries_since":
      return since;
    case "entries_before":
      return situation.entries.length - since;
    case "entries_days_since":
    case "entries_days_before":
      return countDaysAround(name, since, situation);
  }
}

/** Counts the dates of the newest entries, or of the entries before them. */
function countDaysAround(
  name: "entries_days_since" | "entries_days_before",
  newest: number,
  situation: Situation,
): Outcome {
  const { entries, facts } = situation;
  situation.days ??= facts.zone === null ? failed : countDays(entries, facts.zone);
  if (situation.days === failed) return failed;
  const { ofNewest, ofOthers } = situation.days;
  return (name === "entries_days_since" ? ofNewest : ofOthers)[newest] ?? 0;
}

/** Whole minutes since an entry; -1: there was no entry. */
function minutesBetween(entry: number | undefined, at: number): number {
  return entry === undefined ? -1 : Math.floor((at - entry) / 60_000_000);
}

function localOf(situation: Situation): number | typeof failed {
  const { at, zone } = situation.facts;
  situation.local ??= zone === null ? failed : toLocal(at, zone);
  return situation.local;
}

import type { TextName } from "../wording/texts/en.ts";
import type { Wording } from "../wording/wording.ts";
import { applyOperator, type PlainOperator, shift } from "./apply-operator.ts";
import { evaluate, findTime, type Situation } from "./evaluate-rule.ts";
import type { NamedTime, RuleNode } from "./read-rules.ts";
import { failed, isMoment, type Outcome, toNumber, type Value } from "./rule-values.ts";
import type { CountingOperator, Variable } from "./rule-words.ts";

/** A comparison that is not met. */
export interface Failure {
  /** How hard the failure is to overcome: by waiting, at another gate, or never with this ticket; then the distance. */
  readonly weight: readonly [rigidity: number, distance: number];
  readonly describe: (wording: Wording) => string;
}

/** The left side of a comparison: the name decides the rigidity, the label is what people call it. */
type Subject = Variable | CountingOperator;

const rigidities: Readonly<Record<Subject, number>> = {
  entry_status: 20,
  minutes_since_first_entry: 80,
  minutes_since_last_entry: 90,
  entries_days: 100,
  entries_days_since: 105,
  entries_days_before: 105,
  entries_since: 110,
  entries_before: 110,
  entries_number: 120,
  entries_today: 140,
  now: 200,
  now_isoweekday: 210,
  gate: 500,
  product: 1000,
  variation: 1000,
};

/** The weight of a failure that is written only where nothing else explains the refusal. */
const inexplicable = 10_000;
const onlyWhetherEverEntered = 1000;

const operatorRigidities: Readonly<Partial<Record<PlainOperator, number>>> = {
  "<": 1,
  "<=": 1,
  ">": 1,
  ">=": 1,
  "==": 2,
  "!=": 3,
};

const demands: Readonly<Partial<Record<PlainOperator, TextName>>> = {
  "<": "must_be_less",
  "<=": "must_be_at_most",
  ">": "must_be_more",
  ">=": "must_be_at_least",
  "==": "must_be_exactly",
};

const labels = {
  entries_number: "number_of_entries",
  entries_today: "number_of_entries_today",
  entries_days: "number_of_days",
  minutes_since_last_entry: "number_of_minutes_since_last_entry",
  minutes_since_first_entry: "number_of_minutes_since_first_entry",
  entries_since: "number_of_entries_since",
  entries_before: "number_of_entries_before",
  entries_days_since: "number_of_days_since",
  entries_days_before: "number_of_days_before",
} as const;

const weekdays = [1, 2, 3, 4, 5, 6, 7];
const halfDay = 12 * 3_600_000_000;

/** Describes a comparison that is not met: what it demands, and how far the ticket is from meeting it. */
export function describeFailure(node: RuleNode, situation: Situation): Failure {
  if (node.kind !== "operation") return withoutReason(inexplicable);
  const [left, right, third] = node.operands;
  if (left?.kind !== "variable" && left?.kind !== "count") return withoutReason(inexplicable);
  const subject = left.name;
  const { operator } = node;
  const wanted = right === undefined ? failed : evaluate(right, situation);
  switch (subject) {
    case "product":
    case "variation":
      return { weight: [rigidities[subject], 0], describe: (wording) => wording.say("wrong_product") };
    case "gate":
      return { weight: [rigidities.gate, 0], describe: (wording) => wording.say("wrong_gate") };
    case "entry_status": {
      const reason = evaluate(left, situation) === "present" ? "inside" : "outside";
      return { weight: [rigidities.entry_status, 0], describe: (wording) => wording.say(reason) };
    }
    case "now": {
      const tolerance = third === undefined ? null : evaluate(third, situation);
      return describeTime({ operator, wanted, tolerance }, situation);
    }
    default: {
      const value = evaluate(left, situation);
      const isPlain = typeof wanted === "number" || operator === "inList";
      if (typeof value !== "number" || wanted === failed || !isPlain || third !== undefined) {
        return withoutReason(rigidities[subject]);
      }
      const time = left.kind === "count" ? left.time : undefined;
      return describeNumber({ subject, operator, value, wanted, time }, situation);
    }
  }
}

function withoutReason(rigidity: number): Failure {
  return { weight: [rigidity, 0], describe: (wording) => wording.say("rules_refuse") };
}

interface TimeComparison {
  readonly operator: PlainOperator;
  readonly wanted: Outcome;
  readonly tolerance: Outcome;
}

function describeTime({ operator, wanted, tolerance }: TimeComparison, situation: Situation): Failure {
  const isLater = operator === "isAfter" || operator === ">" || operator === ">=";
  const isEarlier = operator === "isBefore" || operator === "<" || operator === "<=";
  if (wanted === failed || tolerance === failed || !(isLater || isEarlier)) return withoutReason(rigidities.now);
  const limit = shift(wanted, isLater ? -(toNumber(tolerance) ?? 0) : tolerance);
  if (!isMoment(limit)) return withoutReason(rigidities.now);
  const seconds = Math.abs(situation.facts.at - limit.at) / 1_000_000;
  return {
    weight: [rigidities.now, seconds],
    describe: (wording) =>
      wording.say(isLater ? "only_after" : "only_before", { time: writeTime(limit.at, situation, wording) }),
  };
}

/** The date is written only where the day is not obvious. */
function writeTime(at: number, { facts }: Situation, wording: Wording): string {
  return Math.abs(facts.at - at) < halfDay ? wording.clock(at, facts.zone) : wording.moment(at, facts.zone);
}

interface NumberComparison {
  readonly subject: Exclude<Subject, "product" | "variation" | "gate" | "entry_status" | "now">;
  readonly operator: PlainOperator;
  readonly value: number;
  readonly wanted: Value;
  /** The time from or until which an operator counts entries. */
  readonly time: NamedTime | undefined;
}

function describeNumber(comparison: NumberComparison, situation: Situation): Failure {
  const { subject, operator, value, wanted } = comparison;
  const asksForFirst = asksOnlyWhetherEntered(comparison);
  const rigidity =
    rigidities[subject] + (operatorRigidities[operator] ?? 0) + (asksForFirst ? onlyWhetherEverEntered : 0);
  const weight = [rigidity, typeof wanted === "number" ? Math.abs(value - wanted) : 0] as const;
  if (subject === "now_isoweekday")
    return { weight, describe: (wording) => describeWeekday(operator, wanted, wording) };
  if (subject === "minutes_since_last_entry" || subject === "minutes_since_first_entry") {
    if (situation.entries.length === 0) return { weight, describe: (wording) => wording.say("never_entered") };
    if (asksForFirst) return { weight, describe: (wording) => wording.say("entered_before") };
  }
  const demand = demands[operator];
  const describe = (wording: Wording) => {
    const measured = {
      label: writeLabel(subject, comparison.time, { situation, wording }),
      value: wording.number(value),
    };
    return demand === undefined || typeof wanted !== "number"
      ? wording.say("must_not_be", measured)
      : wording.say(demand, { ...measured, limit: wording.number(wanted) });
  };
  return { weight, describe };
}

/** Minutes are -1 without an entry: such a comparison asks whether there was an entry, not how long ago. */
function asksOnlyWhetherEntered({ subject, operator, wanted }: NumberComparison): boolean {
  if (subject !== "minutes_since_last_entry" && subject !== "minutes_since_first_entry") return false;
  if (operator === "<" || operator === ">=") return wanted === 0;
  return operator !== "inList" && wanted === -1;
}

function describeWeekday(operator: PlainOperator, wanted: Value, wording: Wording): string {
  const days = weekdays.filter((day) => applyOperator(operator, [day, wanted]) === true);
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return wording.say("rules_refuse");
  const isRun = days.length > 2 && last - first === days.length - 1;
  return isRun
    ? wording.say("only_from_day_to_day", { first: wording.weekday(first), last: wording.weekday(last) })
    : wording.say("only_on_days", { days: wording.anyOf(days.map((day) => wording.weekday(day))) });
}

function writeLabel(
  subject: keyof typeof labels,
  time: NamedTime | undefined,
  { situation, wording }: { readonly situation: Situation; readonly wording: Wording },
): string {
  if (time === undefined) return wording.say(labels[subject]);
  const limit = findTime(time, situation);
  const written = limit === failed ? wording.say("unknown_time") : writeTime(limit.at, situation, wording);
  return wording.say(labels[subject], { time: written });
}

import { formatLocalMinute } from "../local-minute.ts";
import { applyOperator, type PlainOperator, shift } from "./apply-operator.ts";
import { evaluate, findTime, type Situation } from "./evaluate-rule.ts";
import type { NamedTime, RuleNode } from "./read-rules.ts";
import { failed, isMoment, type Outcome, toNumber, type Value } from "./rule-values.ts";
import type { CountingOperator, Variable } from "./rule-words.ts";

/** A comparison that is not met. */
export interface Failure {
  /** How hard it is to overcome: by waiting, at another gate, or not at all with this ticket. Then its distance. */
  readonly weight: readonly [rigidity: number, distance: number];
  readonly describe: () => string;
}

export const unknownReason = "The rules of this list do not allow this entry";

/** What a comparison compares: the name decides how hard it is, the label is what people call it. */
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

/** Written only where nothing else explains the refusal. */
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

const demands: Readonly<Partial<Record<PlainOperator, string>>> = {
  "<": "less than",
  "<=": "at most",
  ">": "more than",
  ">=": "at least",
  "==": "exactly",
};

const labels: Readonly<Partial<Record<Variable, string>>> = {
  entries_number: "The number of entries",
  entries_today: "The number of entries today",
  entries_days: "The number of days with an entry",
  minutes_since_last_entry: "The number of minutes since the last entry",
  minutes_since_first_entry: "The number of minutes since the first entry",
};

const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const halfDay = 12 * 3_600_000_000;

/** Describes a comparison that is not met: what it demands, and how far it is from that. */
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
      return { weight: [rigidities[subject], 0], describe: () => "Tickets of this type are not let in here" };
    case "gate":
      return { weight: [rigidities.gate, 0], describe: () => "Tickets like this one are not let in at this gate" };
    case "entry_status": {
      const reason = evaluate(left, situation) === "present" ? "Already inside" : "Not inside";
      return { weight: [rigidities.entry_status, 0], describe: () => reason };
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
      const label = (): string =>
        left.kind === "count" ? labelOfCount(left, situation) : (labels[left.name] ?? "This");
      return describeNumber({ subject, operator, value, wanted, label }, situation);
    }
  }
}

function withoutReason(rigidity: number): Failure {
  return { weight: [rigidity, 0], describe: () => unknownReason };
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
    describe: () => `Entry only ${isLater ? "after" : "before"} ${formatTime(limit.at, situation)}`,
  };
}

/** The date is written only where it is not plain which day is meant. */
function formatTime(at: number, { facts }: Situation): string {
  const text = formatLocalMinute(at, facts.zone);
  return Math.abs(facts.at - at) < halfDay ? text.slice(-"00:00".length) : text;
}

interface NumberComparison {
  readonly subject: Exclude<Subject, "product" | "variation" | "gate" | "entry_status" | "now">;
  readonly operator: PlainOperator;
  readonly value: number;
  readonly wanted: Value;
  readonly label: () => string;
}

function describeNumber(comparison: NumberComparison, situation: Situation): Failure {
  const { subject, operator, value, wanted, label } = comparison;
  const asksForFirst = asksOnlyWhetherEntered(comparison);
  const rigidity =
    rigidities[subject] + (operatorRigidities[operator] ?? 0) + (asksForFirst ? onlyWhetherEverEntered : 0);
  const weight = [rigidity, typeof wanted === "number" ? Math.abs(value - wanted) : 0] as const;
  if (subject === "now_isoweekday") return { weight, describe: () => describeWeekday(operator, wanted) };
  if (subject === "minutes_since_last_entry" || subject === "minutes_since_first_entry") {
    if (situation.entries.length === 0) return { weight, describe: () => "Not entered yet" };
    if (asksForFirst) return { weight, describe: () => "Entered before" };
  }
  const demand = demands[operator];
  return demand === undefined || typeof wanted !== "number"
    ? { weight, describe: () => `${label()} must not be ${value}` }
    : { weight, describe: () => `${label()} is ${value} but must be ${demand} ${wanted}` };
}

/** Minutes are -1 where there was no entry, so these comparisons are no matter of minutes. */
function asksOnlyWhetherEntered({ subject, operator, wanted }: NumberComparison): boolean {
  if (subject !== "minutes_since_last_entry" && subject !== "minutes_since_first_entry") return false;
  if (operator === "<" || operator === ">=") return wanted === 0;
  return operator !== "inList" && wanted === -1;
}

function describeWeekday(operator: PlainOperator, wanted: Value): string {
  const days = weekdays.filter((_, index) => applyOperator(operator, [index + 1, wanted]) === true);
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return unknownReason;
  const isRun = days.length > 2 && weekdays.indexOf(last) - weekdays.indexOf(first) === days.length - 1;
  return isRun ? `Entry only from ${first} to ${last}` : `Entry only on ${days.join(" or ")}`;
}

function labelOfCount(
  { name, time }: { readonly name: CountingOperator; readonly time: NamedTime },
  situation: Situation,
): string {
  const what = name.startsWith("entries_days") ? "The number of days with an entry" : "The number of entries";
  const limit = findTime(time, situation);
  const when = limit === failed ? "then" : formatTime(limit.at, situation);
  return `${what} ${name.endsWith("since") ? "since" : "before"} ${when}`;
}

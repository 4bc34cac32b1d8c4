import { type AddError, notKnown, ofElement, type RecordErrors, refuseEach } from "@tessera/records/validate";
import type { Known, KnownQuestion } from "./known.ts";

interface Question {
  readonly id: number;
  readonly type: string;
  readonly items: readonly number[];
  readonly options: readonly { readonly id: number; readonly identifier: string }[];
  readonly ask_during_checkin: boolean;
  readonly identifier: string;
  readonly dependency_question: number | null;
  readonly valid_number_min: string | null;
  readonly valid_number_max: string | null;
  readonly valid_date_min: string | null;
  readonly valid_date_max: string | null;
  readonly valid_datetime_min: number | null;
  readonly valid_datetime_max: number | null;
  readonly valid_string_length_min: number | null;
  readonly valid_string_length_max: number | null;
}

/** Finds what contradicts itself. */
export function validateQuestion(data: Question, addError: AddError): void {
  const limits = [
    ["valid_number", toMillionths(data.valid_number_min), toMillionths(data.valid_number_max)],
    ["valid_date", data.valid_date_min, data.valid_date_max],
    ["valid_datetime", data.valid_datetime_min, data.valid_datetime_max],
    ["valid_string_length", data.valid_string_length_min, data.valid_string_length_max],
  ] as const;
  for (const [name, least, most] of limits) {
    if (least !== null && most !== null && least > most) {
      addError(`${name}_max`, `Ensure this value is not below \`${name}_min\`.`);
    }
  }
  const ids = new Set<number>();
  const identifiers = new Set<string>();
  for (const [index, { id, identifier }] of data.options.entries()) {
    if (ids.has(id)) addError(`options.${index}.id`, `Option ${id} occurs twice.`);
    if (identifiers.has(identifier)) addError(`options.${index}.identifier`, "Another option has this identifier.");
    ids.add(id);
    identifiers.add(identifier);
  }
  if (data.ask_during_checkin && data.dependency_question !== null) {
    addError("dependency_question", "A question that is asked at check-in depends on no other.");
  }
}

/** With six places, as the schema has it. */
function toMillionths(decimal: string | null): bigint | null {
  return decimal === null ? null : BigInt(decimal.replace(".", ""));
}

/** Questions whose answers are known beforehand: only these can be what another depends on. */
const withKnownAnswers = new Set(["B", "C", "M"]);

/** Refuses questions as they would be together, with those of the event that stay as they are. */
export function refuseQuestions<V extends { readonly data: Question }>(
  left: readonly V[],
  known: Pick<Known, "items" | "questions">,
): RecordErrors<V> {
  const sent = new Set(left.map(({ data }) => data.id));
  const staying = new Map([...known.questions].filter(([id]) => !sent.has(id)));
  const all = new Map<number, KnownQuestion>(staying);
  for (const { data } of left) all.set(data.id, toKnown(data));
  // Those that stay come first, so identifiers and options stay with the question that has them.
  const ownerOfIdentifier = new Map<string, number>();
  const ownerOfOption = new Map<number, number>();
  for (const [id, { identifier, options }] of all) {
    if (!ownerOfIdentifier.has(identifier)) ownerOfIdentifier.set(identifier, id);
    for (const option of Object.keys(options).map(Number))
      if (!ownerOfOption.has(option)) ownerOfOption.set(option, id);
  }

  return refuseEach(left, ({ data }, addError) => {
    for (const [index, item] of data.items.entries()) {
      if (!known.items.has(item)) addError("items", ofElement(index, notKnown(`item ${item}`)));
    }
    const namesake = ownerOfIdentifier.get(data.identifier);
    if (namesake !== data.id) addError("identifier", `Question ${namesake} has this identifier.`);
    for (const [index, { id }] of data.options.entries()) {
      if (ownerOfOption.get(id) !== data.id)
        addError(`options.${index}.id`, `Option ${id} belongs to another question.`);
    }
    validateDependency(data, all, addError);
    for (const [id, { dependsOn }] of staying) {
      if (dependsOn !== data.id) continue;
      if (!withKnownAnswers.has(data.type))
        addError("type", `Question ${id} depends on it, which this type does not allow.`);
      if (data.ask_during_checkin) addError("ask_during_checkin", `Question ${id} depends on it.`);
    }
  });
}

function validateDependency(data: Question, all: ReadonlyMap<number, KnownQuestion>, addError: AddError): void {
  const { dependency_question: id } = data;
  if (id === null) return;
  const other = all.get(id);
  if (other === undefined) {
    addError("dependency_question", notKnown(`question ${id}`));
    return;
  }
  if (!withKnownAnswers.has(other.type)) {
    addError("dependency_question", "Only a question of type B, C or M can be what another depends on.");
  }
  if (other.askedAtCheckin) addError("dependency_question", `Question ${id} is asked at check-in.`);
  const passed = new Set([data.id]);
  for (let next: number | null | undefined = id; next !== null && next !== undefined; next = all.get(next)?.dependsOn) {
    if (next === data.id) addError("dependency_question", "It would depend on itself.");
    if (passed.has(next)) return;
    passed.add(next);
  }
}

function toKnown(data: Question): KnownQuestion {
  return {
    type: data.type,
    identifier: data.identifier,
    options: Object.fromEntries(data.options.map(({ id, identifier }) => [id, identifier])),
    askedAtCheckin: data.ask_during_checkin,
    dependsOn: data.dependency_question,
  };
}

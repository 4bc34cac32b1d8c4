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

/** Finds options that contradict each other. */
export function validateQuestion({ options }: Question, addError: AddError): void {
  const ids = new Set<number>();
  const identifiers = new Set<string>();
  for (const [index, { id, identifier }] of options.entries()) {
    if (ids.has(id)) addError(`options.${index}.id`, `Option ${id} occurs twice.`);
    if (identifiers.has(identifier)) addError(`options.${index}.identifier`, "Another option has this identifier.");
    ids.add(id);
    identifiers.add(identifier);
  }
}

/** With six places, as in the schema. */
function toMillionths(decimal: string | null): bigint | null {
  return decimal === null ? null : BigInt(decimal.replace(".", ""));
}

/** The questions of the event after the change, unchanged ones first: they keep their identifiers and options. */
function joinQuestions(left: readonly { readonly data: Question }[], { questions }: Pick<Known, "questions">) {
  const sent = new Set(left.map(({ data }) => data.id));
  const all = new Map<number, KnownQuestion>([...questions].filter(([id]) => !sent.has(id)));
  for (const { data } of left) all.set(data.id, toKnown(data));
  return all;
}

/** Finds identifiers and options that belong to another question. */
export function refuseQuestions<V extends { readonly data: Question }>(
  left: readonly V[],
  known: Pick<Known, "questions">,
): RecordErrors<V> {
  const ownerOfIdentifier = new Map<string, number>();
  const ownerOfOption = new Map<number, number>();
  for (const [id, { identifier, options }] of joinQuestions(left, known)) {
    if (!ownerOfIdentifier.has(identifier)) ownerOfIdentifier.set(identifier, id);
    for (const option of Object.keys(options).map(Number))
      if (!ownerOfOption.has(option)) ownerOfOption.set(option, id);
  }
  return refuseEach(left, ({ data }, addError) => {
    const namesake = ownerOfIdentifier.get(data.identifier);
    if (namesake !== data.id) addError("identifier", `Question ${namesake} has this identifier.`);
    for (const [index, { id }] of data.options.entries()) {
      if (ownerOfOption.get(id) !== data.id)
        addError(`options.${index}.id`, `Option ${id} belongs to another question.`);
    }
  });
}

/** Questions with a closed set of answers: only these can others depend on. */
const withKnownAnswers = new Set(["B", "C", "M"]);

/** Warns about unknown references, dependencies that cannot be met, and limits that no answer meets. */
export function doubtQuestions<V extends { readonly data: Question }>(
  left: readonly V[],
  known: Pick<Known, "items" | "questions">,
): RecordErrors<V> {
  const all = joinQuestions(left, known);
  return refuseEach(left, ({ data }, addWarning) => {
    const limits = [
      ["valid_number", toMillionths(data.valid_number_min), toMillionths(data.valid_number_max)],
      ["valid_date", data.valid_date_min, data.valid_date_max],
      ["valid_datetime", data.valid_datetime_min, data.valid_datetime_max],
      ["valid_string_length", data.valid_string_length_min, data.valid_string_length_max],
    ] as const;
    for (const [name, least, most] of limits) {
      if (least !== null && most !== null && least > most) addWarning(`${name}_max`, `It is below \`${name}_min\`.`);
    }
    for (const [index, item] of data.items.entries()) {
      if (!known.items.has(item)) addWarning("items", ofElement(index, notKnown(`item ${item}`)));
    }
    doubtDependency(data, all, addWarning);
  });
}

function doubtDependency(data: Question, all: ReadonlyMap<number, KnownQuestion>, addWarning: AddError): void {
  const { dependency_question: id } = data;
  if (id === null) return;
  const other = all.get(id);
  if (other === undefined) addWarning("dependency_question", notKnown(`question ${id}`));
  else if (!withKnownAnswers.has(other.type))
    addWarning("dependency_question", "Only a question of type B, C or M can be what another depends on.");
  const passed = new Set([data.id]);
  for (let next: number | null | undefined = id; next !== null && next !== undefined; next = all.get(next)?.dependsOn) {
    if (next === data.id) addWarning("dependency_question", "It depends on itself.");
    if (passed.has(next)) return;
    passed.add(next);
  }
}

/** The fields of a question for the checks of others. */
export function toKnown(data: Question): KnownQuestion {
  return {
    type: data.type,
    identifier: data.identifier,
    options: Object.fromEntries(data.options.map(({ id, identifier }) => [id, identifier])),
    askedAtCheckin: data.ask_during_checkin,
    dependsOn: data.dependency_question,
  };
}

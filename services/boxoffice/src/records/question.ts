import type { TypeOf } from "@tessera/kit/schema";
import { arrayOf, boolean, choice, decimal, id, integer, object, text } from "@tessera/kit/schema-build";
import { topics } from "@tessera/protos/topics";
import { parseInstant } from "@tessera/values";
import type { Known, KnownQuestion } from "../store/references.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import { type Complain, notKnown, ofElement, type RecordKind, refuseEach, refuseTogether, refuseUsed } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { idOrNull, instantOrNull, lineOrNull, names, namesOrNull } from "./schema-parts.ts";

const option = object(
  { id: id(), identifier: lineOrNull(190), position: integer({ default: 0 }), answer: names() },
  { required: ["id", "answer"] },
);

const decimalOrNull = () => decimal({ nullable: true, default: null, digits: 16, places: 6 });
const lengthOrNull = () => integer({ nullable: true, default: null, minimum: 0 });
const dayOrNull = () => text({ nullable: true, default: null, description: "YYYY-MM-DD" });

const schema = object(
  {
    id: id(),
    question: names(),
    type: choice(["N", "S", "T", "B", "C", "M", "F", "D", "H", "W", "CC", "TEL"]),
    required: boolean({ default: false }),
    items: arrayOf(id(), { default: [], maxItems: 10_000 }),
    options: arrayOf(option, { default: [], maxItems: 10_000 }),
    position: integer({ default: 0 }),
    ask_during_checkin: boolean({ default: false }),
    show_during_checkin: boolean({ default: false }),
    identifier: { ...lineOrNull(190), description: "The id where there is none; the same goes for options." },
    dependency_question: idOrNull(),
    dependency_values: arrayOf(text({ trim: false, maxLength: 1000 }), { nullable: true, default: [], maxItems: 1000 }),
    hidden: boolean({ default: false }),
    dependency_value: {
      ...lineOrNull(1000),
      description: "Of former times: counts where `dependency_values` is empty.",
    },
    print_on_invoice: boolean({ default: false }),
    help_text: namesOrNull(),
    valid_number_min: decimalOrNull(),
    valid_number_max: decimalOrNull(),
    valid_date_min: dayOrNull(),
    valid_date_max: dayOrNull(),
    valid_datetime_min: instantOrNull(),
    valid_datetime_max: instantOrNull(),
    valid_string_length_min: lengthOrNull(),
    valid_string_length_max: lengthOrNull(),
    valid_file_portrait: boolean({ default: false }),
  },
  { required: ["id", "question", "type"] },
);

type Question = ReturnType<typeof complete>;

function complete(data: TypeOf<typeof schema>) {
  const { dependency_value: former } = data;
  const sent = data.dependency_values ?? [];
  const values = sent.length === 0 && former !== null ? [former] : sent;
  return {
    ...data,
    identifier: data.identifier || String(data.id),
    options: data.options.map((each) => ({ ...each, identifier: each.identifier || String(each.id) })),
    dependency_values: values,
    dependency_value: values[0] ?? null,
  };
}

const readFields = compileReader(schema, {
  complete,
  rules: { valid_date_min: dayRule, valid_date_max: dayRule },
});

function dayRule(value: unknown): string | undefined {
  if (value === null) return undefined;
  const day = typeof value === "string" ? value.trim() : "";
  const exists = /^\d{4}-\d\d-\d\d$/.test(day) && parseInstant(`${day}T00:00:00Z`) !== undefined;
  return exists ? undefined : "Date has wrong format. Use YYYY-MM-DD.";
}

/** A question that buyers are asked, or visitors at the gate. */
export const question: RecordKind<Reading<Question>> = {
  ...catalogueKind({
    table: "question",
    belongsTo: "event",
    schema,
    key: "id",
    read(data) {
      const checked = readFields(data);
      if (!checked.ok) return checked;
      const question = checked.value.data;
      const errors = refuseEach([question], examineItself).get(question);
      return errors === undefined ? checked : { ok: false, errors };
    },
    fact: {
      topic: topics.questionChanged,
      of: ({ scope, data, document, revision }) => ({
        ...scope,
        id: data.id,
        revision,
        items: data.items,
        position: data.position,
        askDuringCheckin: data.ask_during_checkin,
        document: Buffer.from(document),
      }),
    },
  }),
  *idsOf({ data }) {
    yield ["question_id_seq", data.id];
    for (const { id } of data.options) yield ["question_option_id_seq", id];
  },
  mention({ data }, mentioned) {
    mentioned.everyQuestion = true;
    for (const item of data.items) mentioned.items.add(item);
  },
  async refuse(_tx, { values, known }) {
    return refuseTogether(values, (left) => examiner(left, known));
  },
  refuseRemoval: (tx, removal) => refuseUsed(tx, "question", removal),
};

/** Complains about what contradicts itself. */
function examineItself(data: Question, complain: Complain): void {
  const limits = [
    ["valid_number", toMillionths(data.valid_number_min), toMillionths(data.valid_number_max)],
    ["valid_date", data.valid_date_min, data.valid_date_max],
    ["valid_datetime", data.valid_datetime_min, data.valid_datetime_max],
    ["valid_string_length", data.valid_string_length_min, data.valid_string_length_max],
  ] as const;
  for (const [name, least, most] of limits) {
    if (least !== null && most !== null && least > most) {
      complain(`${name}_max`, `Ensure this value is not below \`${name}_min\`.`);
    }
  }
  const ids = new Set<number>();
  const identifiers = new Set<string>();
  for (const [index, { id, identifier }] of data.options.entries()) {
    if (ids.has(id)) complain(`options.${index}.id`, `option ${id} occurs twice`);
    if (identifiers.has(identifier)) complain(`options.${index}.identifier`, "another option has this identifier");
    ids.add(id);
    identifiers.add(identifier);
  }
  if (data.ask_during_checkin && data.dependency_question !== null) {
    complain("dependency_question", "A question that is asked at check-in depends on no other.");
  }
}

/** With six places, as the schema has it. */
function toMillionths(decimal: string | null): bigint | null {
  return decimal === null ? null : BigInt(decimal.replace(".", ""));
}

/** Questions whose answers are known beforehand: only these can be what another depends on. */
const withKnownAnswers = new Set(["B", "C", "M"]);

/** Examines questions as they would be together, with those of the event that stay as they are. */
function examiner(left: readonly Reading<Question>[], known: Known) {
  const sent = new Set(left.map(({ data }) => data.id));
  const staying = new Map([...known.questions].filter(([id]) => !sent.has(id)));
  const all = new Map<number, KnownQuestion>(staying);
  for (const { data } of left) all.set(data.id, toKnown(data));
  // Those that stay come first, so identifiers and options stay with the question that has them.
  const ownerOfIdentifier = new Map<string, number>();
  const ownerOfOption = new Map<number, number>();
  for (const [id, { identifier, options }] of all) {
    if (!ownerOfIdentifier.has(identifier)) ownerOfIdentifier.set(identifier, id);
    for (const option of options) if (!ownerOfOption.has(option)) ownerOfOption.set(option, id);
  }

  return ({ data }: Reading<Question>, complain: Complain) => {
    for (const [index, item] of data.items.entries()) {
      if (!known.items.has(item)) complain("items", ofElement(index, notKnown(`item ${item}`)));
    }
    const namesake = ownerOfIdentifier.get(data.identifier);
    if (namesake !== data.id) complain("identifier", `question ${namesake} has this identifier`);
    for (const [index, { id }] of data.options.entries()) {
      if (ownerOfOption.get(id) !== data.id)
        complain(`options.${index}.id`, `option ${id} belongs to another question`);
    }
    examineDependency(data, all, complain);
    for (const [id, { dependsOn }] of staying) {
      if (dependsOn !== data.id) continue;
      if (!withKnownAnswers.has(data.type))
        complain("type", `question ${id} depends on it, which this type does not allow`);
      if (data.ask_during_checkin) complain("ask_during_checkin", `question ${id} depends on it`);
    }
  };
}

function examineDependency(data: Question, all: ReadonlyMap<number, KnownQuestion>, complain: Complain): void {
  const { dependency_question: id } = data;
  if (id === null) return;
  const other = all.get(id);
  if (other === undefined) {
    complain("dependency_question", notKnown(`question ${id}`));
    return;
  }
  if (!withKnownAnswers.has(other.type)) {
    complain("dependency_question", "Only a question of type B, C or M can be what another depends on.");
  }
  if (other.askedAtCheckin) complain("dependency_question", `question ${id} is asked at check-in`);
  const passed = new Set([data.id]);
  for (let next: number | null | undefined = id; next !== null && next !== undefined; next = all.get(next)?.dependsOn) {
    if (next === data.id) complain("dependency_question", "It would depend on itself.");
    if (passed.has(next)) return;
    passed.add(next);
  }
}

function toKnown(data: Question): KnownQuestion {
  return {
    type: data.type,
    identifier: data.identifier,
    options: data.options.map(({ id }) => id),
    askedAtCheckin: data.ask_during_checkin,
    dependsOn: data.dependency_question,
  };
}

import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { idOrNull, instantOrNull, lineOrNull, names, namesOrNull } from "@tessera/records/schema-parts";
import { refuseEach, refuseTogether } from "@tessera/records/validate";
import { arrayOf, boolean, choice, decimal, id, integer, object, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { parseInstant } from "@tessera/values";
import { refuseQuestions, validateQuestion } from "../domain/refuse-questions.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

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
    identifier: { ...lineOrNull(190), description: "By default the id; the same applies to options." },
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
    schema,
    read(data) {
      const checked = readFields(data);
      if (!checked.ok) return checked;
      const question = checked.value.data;
      const errors = refuseEach([question], validateQuestion).get(question);
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
    return refuseTogether(values, (left) => refuseQuestions(left, known));
  },
};

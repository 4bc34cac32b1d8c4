import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { refuseEach } from "@tessera/records/validate";
import { questionRecord } from "@tessera/resources/records/question";
import type { TypeOf } from "@tessera/schema/schema";
import { parseInstant } from "@tessera/values";
import { doubtQuestions, refuseQuestions, toKnown, validateQuestion } from "../domain/refuse-questions.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";
import type { BroughtHere } from "./recall.ts";

type Question = ReturnType<typeof complete>;

function complete(data: TypeOf<typeof questionRecord>) {
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

const readFields = compileReader(questionRecord, {
  complete,
  sorted: ["options"],
  rules: { valid_date_min: dayRule, valid_date_max: dayRule },
});

function dayRule(value: unknown): string | undefined {
  if (value === null) return undefined;
  const day = typeof value === "string" ? value.trim() : "";
  const exists = /^\d{4}-\d\d-\d\d$/.test(day) && parseInstant(`${day}T00:00:00Z`) !== undefined;
  return exists ? undefined : "Date has wrong format. Use YYYY-MM-DD.";
}

/** A question to buyers, or to visitors at the gate. */
export const question: RecordKind<Reading<Question>> = {
  ...catalogueKind({
    table: "question",
    schema: questionRecord,
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
  mention({ data }, mentioned) {
    mentioned.everyQuestion = true;
    for (const item of data.items) mentioned.items.add(item);
  },
  // A question is compared with all others.
  bring: ({ data }): BroughtHere<"question"> => ({ names: ["question"], data: toKnown(data) }),
  async refuse(_tx, { values, known }) {
    return refuseQuestions(values, known);
  },
  doubt: ({ values, known }) => doubtQuestions(values, known),
};

import { type Question, type QuestionType, readQuestion } from "../questions/question.ts";
import { readAnswer, type SentFile } from "../questions/read-answer.ts";
import { readerOf } from "./decisions.ts";

/** Options of which one has the id of another as its identifier. */
export const menu = [
  { id: 11, identifier: "MEAT", position: 2, answer: { en: "Meat", de: "Fleisch" } },
  { id: 12, identifier: "TOFU", position: 1, answer: { en: "Tofu" } },
  { id: 13, identifier: "11", position: 3, answer: { en: "Eleven", de: "Elf" } },
  { id: 14, identifier: "one, two", position: 4, answer: { en: "Both" } },
];

/** A question that is optional and has no limits, apart from the fields given. */
export function question(type: QuestionType, fields: object = {}): Question {
  const resource = {
    id: 1,
    type,
    required: false,
    identifier: "Q1",
    options: type === "C" || type === "M" ? menu : [],
    dependency_question: null,
    dependency_values: [],
    valid_number_min: null,
    valid_number_max: null,
    valid_date_min: null,
    valid_date_max: null,
    valid_datetime_min: null,
    valid_datetime_max: null,
    valid_string_length_min: null,
    valid_string_length_max: null,
    ...fields,
  };
  return readQuestion(JSON.stringify(resource));
}

export interface Circumstances {
  readonly locale?: string;
  readonly timezone?: string;
  readonly file?: SentFile;
}

/** Reads an answer in English and UTC, unless told otherwise. */
export function read(asked: Question, value: unknown, { locale = "en", timezone = "UTC", file }: Circumstances = {}) {
  return readAnswer(asked, { value, file: file ?? null }, readerOf(timezone, locale));
}

/** The text of the answer, or why there is none. */
export function textOf(asked: Question, value: unknown, circumstances?: Circumstances): string {
  const reading = read(asked, value, circumstances);
  return typeof reading === "string" ? reading : `“${reading.text}”`;
}

import { pick } from "@tessera/values";
import type { Zone } from "../local-time.ts";
import type { Wording } from "../wording/wording.ts";
import { readClock, readDay } from "./calendar-forms.ts";
import { isCountry } from "./countries.ts";
import type { Limits, Option, Question } from "./question.ts";
import { readMoment } from "./read-moment.ts";
import { readNumber } from "./read-number.ts";
import type { WritingHabits } from "./writing-habits.ts";

export interface SentFile {
  readonly upload: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
}

/** The time zone and the language conventions of an event. */
export interface Reader {
  /** The zone of the event; null: there is no such time zone. */
  readonly zone: Zone | null;
  readonly locale: string;
  readonly habits: WritingHabits;
  readonly wording: Wording;
}

export interface AnswerRead {
  readonly text: string;
  readonly options: readonly Option[];
  readonly file: SentFile | null;
}

/** How a sent value is read: as an answer, as empty, or as something that the question does not allow. */
export type Reading = AnswerRead | "empty" | "refused";

/** The longest stored answer, in UTF-16 code units. */
const mostCharacters = 64 * 1024;

/** Reads a JSON value as the answer to a question. */
export function readAnswer(
  question: Question,
  sent: { readonly value: unknown; readonly file: SentFile | null },
  reader: Reader,
): Reading {
  const { value } = sent;
  if (isEmpty(value)) return question.required ? "refused" : "empty";
  switch (question.type) {
    case "C":
      return ofOptions(findOptions(question, [value]), reader);
    case "M":
      return ofOptions(findOptions(question, split(value)), reader);
    case "F":
      return ofFile(sent.file);
    default:
      return ofText(readText(question, toText(value), reader));
  }
}

/** Empty values are no answer, but `false` and `0` are. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

/**
 * Writes a value as a text that every store can hold: without NUL and without lone surrogates.
 *
 * JSON numbers above 2^53 have lost digits already, so large numbers are accepted only as texts.
 */
function toText(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
      ? String(value)
      : undefined;
  }
  if (typeof value !== "string" || value.length > mostCharacters) return undefined;
  return value.includes("\0") || !value.isWellFormed() ? undefined : value;
}

function readText(question: Question, text: string | undefined, reader: Reader): string | undefined {
  if (text === undefined) return undefined;
  switch (question.type) {
    case "N":
      return readNumber(text, reader.habits.decimalSeparator, question.numbers);
    case "B":
      return readChoice(text, question);
    case "D":
      return readDate(text, reader.habits, question.days);
    case "H":
      return readTime(text, reader.habits);
    case "W":
      return readMoment(text, { zone: reader.zone, habits: reader.habits, limits: question.moments });
    case "CC":
      return isCountry(text) ? text : undefined;
    case "TEL":
      return text;
    default:
      return isWithin(countCharacters(text), question.lengths) ? text : undefined;
  }
}

/** A required yes-or-no question is asked until the answer is yes. */
function readChoice(text: string, { required }: Question): string | undefined {
  if (text === "true" || text === "True") return "True";
  return required ? undefined : "False";
}

function readDate(text: string, habits: WritingHabits, limits: Limits<string>): string | undefined {
  const read = readDay(text, habits);
  if (read === undefined || (read.rest !== "" && readClock(read.rest) === undefined)) return undefined;
  return isWithin(read.day, limits) ? read.day : undefined;
}

function readTime(text: string, habits: WritingHabits): string | undefined {
  return (readClock(text) ?? readClock(readDay(text, habits)?.rest ?? ""))?.time;
}

function isWithin<T extends string | number>(value: T, { least, most }: Limits<T>): boolean {
  return (least === null || value >= least) && (most === null || value <= most);
}

/** Counts code points; the limits are in code points. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function split(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "string" && value.length <= mostCharacters ? value.split(",") : [value];
}

/**
 * Finds each option that is named by id or identifier; undefined: an option is unknown or named twice.
 *
 * Ids take precedence over equal identifiers, since scanners send ids.
 */
function findOptions({ options }: Question, names: readonly unknown[]): Option[] | undefined {
  const byId = new Map(options.map((option) => [option.id, option]));
  const byIdentifier = new Map(options.map((option) => [option.identifier, option]));
  const found = new Set<Option>();
  for (const name of names) {
    const option = byId.get(toId(name)) ?? (typeof name === "string" ? byIdentifier.get(name) : undefined);
    if (option === undefined || found.has(option)) return undefined;
    found.add(option);
  }
  return options.filter((option) => found.has(option));
}

/** NaN: the name is no id. */
function toId(name: unknown): number {
  if (typeof name === "string") return /^\d{1,16}$/.test(name) ? Number(name) : Number.NaN;
  return typeof name === "number" ? name : Number.NaN;
}

function ofOptions(options: readonly Option[] | undefined, { locale }: Reader): Reading {
  if (options === undefined) return "refused";
  return { text: options.map(({ answer }) => pick(answer, locale)).join(", "), options, file: null };
}

const fileTypes = new Set(["image/png", "image/jpeg", "image/gif", "application/pdf"]);

/** The text is a digest of the content: the same content has the same text. */
function ofFile(file: SentFile | null): Reading {
  if (file === null || !fileTypes.has(file.contentType)) return "refused";
  return { text: `file:${file.contentType};${file.size};${file.sha256}`, options: [], file };
}

function ofText(text: string | undefined): Reading {
  return text === undefined ? "refused" : { text, options: [], file: null };
}

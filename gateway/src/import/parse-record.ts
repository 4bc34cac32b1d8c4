import { isUtf8 } from "node:buffer";
import type { Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import {
  explainUntaken,
  isAddressedByEvent,
  isRecordKind,
  type RecordKindName,
  type RecordOwnerName,
  recordKinds,
} from "@tessera/protos/record-kinds";
import { isObject, isSlug } from "@tessera/values";
import { fieldTexts } from "../body/field-texts.ts";
import { deepestNesting, findExcess } from "../body/nesting.ts";
import type { LineError } from "./summary.ts";

export type ParsedRecord =
  | { readonly owner: RecordOwnerName; readonly record: WireRecord }
  | {
      /** Errors of the envelope, by field. */
      readonly errors: LineError["errors"];
      /** Null: the line names no known kind. An unknown one is not repeated, because it could be anything. */
      readonly kind: string | null;
      /** The line is not a JSON object. */
      readonly notAnObject: boolean;
    };

/**
 * More than the largest order, with all fields, answers and scans of its positions, which its service parses at once.
 */
const mostValues = 300_000;

/** Far more than any kind has. To parse a new name takes longer than to parse many values. */
const mostNames = 10_000;

const tooMuch = {
  levels: `The line nests deeper than ${deepestNesting} levels.`,
  values: `The line holds more than ${mostValues} values.`,
};

/** Reads one line: UTF-8, JSON, and the envelope around `data`. The owner of the record checks `data`. */
export function parseRecord(line: number, bytes: Buffer): ParsedRecord {
  if (!isUtf8(bytes)) return unreadable("The line is not valid UTF-8.");
  const text = bytes.toString("utf8");
  const excess = findExcess(text, mostValues);
  if (excess !== undefined) {
    // The line is not parsed; a line that begins like a record is no other format.
    const notAnObject = !text.trimStart().startsWith("{");
    return { ...unreadable(tooMuch[excess]), notAnObject };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable("The line is not valid JSON.");
  }
  if (!isObject(value)) return unreadable("The line is not a JSON object.");
  if (hasTooManyNames(value, text)) {
    const message = `The line holds more than ${mostNames} different names.`;
    return { ...unreadable(message), notAnObject: false };
  }
  return readEnvelope(value, { line, text });
}

function hasTooManyNames(record: object, { length }: string): boolean {
  // A shorter line cannot exceed the limit: each name takes two quotes, a colon, a value and a separator.
  if (length < 5 * mostNames) return false;
  const names = new Set<string>();
  const left: unknown[] = [record];
  while (left.length > 0 && names.size <= mostNames) {
    const value = left.pop();
    if (isObject(value)) for (const name of Object.keys(value)) names.add(name);
    if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) left.push(inner);
  }
  return names.size > mostNames;
}

type Envelope = Readonly<Record<string, unknown>>;

function readEnvelope(envelope: Envelope, { line, text }: { line: number; text: string }): ParsedRecord {
  // Own keys only: a record may contain `__proto__` as a name.
  const field = (name: string): unknown => (Object.hasOwn(envelope, name) ? envelope[name] : undefined);
  const [kindName, organizer, event, data, deleted] = ["kind", "organizer", "event", "data", "deleted"].map(field);
  const name = isRecordKind(kindName) ? kindName : null;
  const errors: Record<string, string[]> = {};
  if (name === null) errors["kind"] = [kindName === undefined ? required : explainUntaken(kindName)];
  if (!isSlug(organizer)) errors["organizer"] = [organizer === undefined ? required : notASlug];
  const eventProblem = name === null ? undefined : problemOfEvent(name, event);
  if (eventProblem !== undefined) errors["event"] = [eventProblem];
  if (!isObject(data)) errors["data"] = [data === undefined ? required : "Expected an object."];
  if (deleted !== undefined && deleted !== null && typeof deleted !== "boolean")
    errors["deleted"] = ["Expected true or false."];

  if (Object.keys(errors).length > 0 || name === null) return { errors, kind: name, notAnObject: false };
  const { owner } = recordKinds[name];
  return {
    owner,
    record: {
      line,
      kind: name,
      organizer: organizer as string,
      event: typeof event === "string" ? event : "",
      deleted: deleted === true,
      data: Buffer.from(writeData(data, text)),
    },
  };
}

const ofData: ReadonlySet<string> = new Set(["data"]);

/** Finds every number that overflows in JavaScript, and a few others. */
const mayOverflow = /[\s,:[]-?(?:\d[\d.]*[eE]\+?\d{3}|\d{200})/;

/** Keeps a number that overflows, for its owner to refuse. Serialized again it would be null: often no limit. */
function writeData(data: unknown, text: string): string {
  const sent = mayOverflow.test(text) ? fieldTexts(text, ofData).get("data") : undefined;
  return sent ?? JSON.stringify(data);
}

const required = "This field is required.";
const notASlug = "Expected a slug: up to 50 letters, digits, dots, dashes and underscores.";

function problemOfEvent(name: RecordKindName, event: unknown): string | undefined {
  const absent = event === undefined || event === null;
  if (!isAddressedByEvent(name)) {
    return absent ? undefined : "This kind of record belongs to the organizer; leave the event out.";
  }
  if (absent) return required;
  return isSlug(event) ? undefined : notASlug;
}

export function unreadable(message: string): Extract<ParsedRecord, { errors: unknown }> {
  return { errors: { non_field_errors: [message] }, kind: null, notAnObject: true };
}

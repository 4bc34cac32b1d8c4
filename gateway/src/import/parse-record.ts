import { isUtf8 } from "node:buffer";
import type { Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { deepestNesting, nestsTooDeep } from "../body/nesting.ts";
import { type Kind, kinds, type Owner } from "./kinds.ts";

/** Messages by field of the record's envelope. */
export type RecordErrors = Readonly<Record<string, readonly string[]>>;

export type ParsedRecord =
  | { readonly owner: Owner; readonly record: WireRecord }
  | {
      readonly errors: RecordErrors;
      /** Only ever a kind there is: anything else could be anything. */
      readonly kind: string | null;
      /** The line is no JSON object at all. */
      readonly notAnObject: boolean;
    };

/** Reads one line: UTF-8, JSON, and the envelope around `data`. What `data` holds is its owner's to check. */
export function parseRecord(line: number, bytes: Buffer): ParsedRecord {
  if (!isUtf8(bytes)) return unreadable("The line is not valid UTF-8.");
  const text = bytes.toString("utf8");
  if (nestsTooDeep(text)) return unreadable(`The line nests deeper than ${deepestNesting} levels.`);
  let value: unknown;
  try {
    value = JSON.parse(line === 1 && text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch {
    return unreadable("The line is not valid JSON.");
  }
  if (!isObject(value)) return unreadable("The line is not a JSON object.");
  return readEnvelope(line, value);
}

type Envelope = Readonly<Record<string, unknown>>;

function readEnvelope(line: number, envelope: Envelope): ParsedRecord {
  // Read by own keys alone: `__proto__` and its like are names as any other.
  const field = (name: string): unknown => (Object.hasOwn(envelope, name) ? envelope[name] : undefined);
  const [kindName, organizer, event, data, deleted] = ["kind", "organizer", "event", "data", "deleted"].map(field);
  const kind = typeof kindName === "string" ? kinds.get(kindName) : undefined;
  const errors: Record<string, string[]> = {};
  if (kindName === undefined) errors["kind"] = [required];
  else if (kind === undefined) errors["kind"] = ["There is no such kind of record."];
  if (!isSlug(organizer)) errors["organizer"] = [organizer === undefined ? required : notASlug];
  const eventProblem = kind === undefined ? undefined : problemOfEvent(kind, event);
  if (eventProblem !== undefined) errors["event"] = [eventProblem];
  if (!isObject(data)) errors["data"] = [data === undefined ? required : "Expected an object."];
  if (deleted !== undefined && deleted !== null && typeof deleted !== "boolean")
    errors["deleted"] = ["Expected true or false."];

  const name = kind === undefined ? null : (kindName as string);
  if (Object.keys(errors).length > 0 || kind === undefined || name === null)
    return { errors, kind: name, notAnObject: false };
  if (kind.owner === undefined) {
    return {
      errors: { kind: [`records of kind ${name} are not taken by this version`] },
      kind: name,
      notAnObject: false,
    };
  }
  return {
    owner: kind.owner,
    record: {
      line,
      kind: name,
      organizer: organizer as string,
      event: kind.ofEvent ? (event as string) : "",
      deleted: deleted === true,
      data: Buffer.from(JSON.stringify(data)),
    },
  };
}

const required = "This field is required.";
const notASlug = "Expected a slug: up to 50 letters, digits, dots, dashes and underscores.";

function problemOfEvent({ ofEvent }: Kind, event: unknown): string | undefined {
  const absent = event === undefined || event === null;
  if (!ofEvent) return absent ? undefined : "This kind of record belongs to the organizer; leave the event out.";
  if (absent) return required;
  return isSlug(event) ? undefined : notASlug;
}

function isSlug(value: unknown): boolean {
  return typeof value === "string" && /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,49}$/.test(value);
}

function isObject(value: unknown): value is Envelope {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unreadable(message: string): ParsedRecord {
  return { errors: { non_field_errors: [message] }, kind: null, notAnObject: true };
}

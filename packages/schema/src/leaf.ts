import {
  type DecimalLimits,
  type DecimalProblem,
  findDecimalProblem,
  isSlug,
  isUuid,
  maxImportedId,
  parseDecimal,
  parseInstant,
} from "@tessera/values";

/** How a leaf's value is read (rules: A9). */
export type Read =
  | "text"
  | "integer"
  | "id"
  | "boolean"
  | "decimal"
  | "instant"
  | "choice"
  | "slug"
  | "uuid"
  | "any"
  | "raw"
  | "numeric"
  | "json";

export interface LeafSchema {
  readonly read: Read;
  readonly nullable?: boolean;
  /** False: a text may not be empty. True: an empty text means that there is no time. */
  readonly blank?: boolean;
  /** False: spaces at both ends stay. */
  readonly trim?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly digits?: number;
  readonly places?: number;
  /** False: a decimal is zero or above. */
  readonly negative?: boolean;
  /** The places of a decimal that are always written; without it all are. */
  readonly shown?: number;
  readonly enum?: readonly (string | null)[];
  /** What a text must contain, as a regular expression. */
  readonly pattern?: string;
}

export type LeafOptions = Omit<LeafSchema, "read">;

export type LeafResult =
  | { readonly value: unknown; readonly problem?: never }
  | { readonly problem: string; readonly value?: never };

const wrong = (problem: string): LeafResult => ({ problem });
const read = (value: unknown): LeafResult => ({ value });

/** Reads one value, or returns its problem as a sentence. */
export function checkLeaf(leaf: LeafSchema, data: unknown): LeafResult {
  if (data === null) return leaf.nullable === true ? read(null) : wrong("This field may not be null.");
  return readers[leaf.read](data, leaf);
}

const readers: Readonly<Record<Read, (data: unknown, leaf: LeafSchema) => LeafResult>> = {
  text: readText,
  integer: readInteger,
  id: readId,
  boolean: readBoolean,
  decimal: readDecimal,
  instant: readInstant,
  choice: readChoice,
  slug: readSlug,
  uuid: readUuid,
  numeric: readNumeric,
  json: (data) => (typeof data === "string" ? read(data) : wrong("Expected JSON as it was sent.")),
  any: readAny,
  raw: read,
};

function readText(data: unknown, leaf: LeafSchema): LeafResult {
  if (typeof data !== "string" && typeof data !== "number") return wrong("Not a valid string.");
  if (typeof data === "number" && !isWrittenAsSent(data, leaf))
    return wrong("This number cannot be kept as it was sent. Send it as a text, in quotes.");
  const text = leaf.trim === false ? String(data) : String(data).trim();
  const unkept = findUnkept(text);
  if (unkept !== undefined) return wrong(unkept);
  if (text === "" && leaf.blank === false) return wrong("This field may not be blank.");
  if (leaf.minLength !== undefined && isShorter(text, leaf.minLength))
    return wrong(`Ensure this field has at least ${leaf.minLength} characters.`);
  // A character has one or two code units: only a text with more of them has to be counted.
  if (leaf.maxLength !== undefined && text.length > leaf.maxLength && !isShorter(text, leaf.maxLength + 1))
    return wrong(`Ensure this field has no more than ${leaf.maxLength} characters.`);
  if (leaf.pattern !== undefined && !new RegExp(leaf.pattern, "u").test(text))
    return wrong("Some of its characters are not allowed here.");
  return read(text);
}

/** Whether a text has fewer characters, which are code points. */
function isShorter(text: string, least: number): boolean {
  if (text.length >= 2 * least) return false;
  let count = 0;
  for (const _ of text) count += 1;
  return count < least;
}

/** Whether the text of a number is what was sent. JSON has already lost digits of large numbers, and zeros at the end of fractions. */
function isWrittenAsSent(number: number, leaf: LeafSchema): boolean {
  if (Number.isSafeInteger(number)) return true;
  return leaf.trim !== false && Number.isFinite(number) && !Number.isInteger(number) && !String(number).includes("e");
}

function readInteger(data: unknown, leaf: LeafSchema): LeafResult {
  const number = typeof data === "string" && /^\s*[+-]?\d{1,18}(\.0{0,18})?\s*$/.test(data) ? Number(data) : data;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) return wrong("A valid integer is required.");
  if (leaf.minimum !== undefined && number < leaf.minimum)
    return wrong(`Ensure this value is greater than or equal to ${leaf.minimum}.`);
  if (leaf.maximum !== undefined && number > leaf.maximum)
    return wrong(`Ensure this value is less than or equal to ${leaf.maximum}.`);
  return read(number);
}

function readId(data: unknown, leaf: LeafSchema): LeafResult {
  if (data === "" && leaf.nullable === true) return read(null);
  const number = typeof data === "string" && /^\d{1,16}$/.test(data.trim()) ? Number(data) : data;
  if (typeof number !== "number" || !Number.isInteger(number)) return wrong("Expected an id, a whole number.");
  if (number < 1 || number > maxImportedId) return wrong(`Ids lie between 1 and ${maxImportedId}.`);
  return read(number);
}

const truths = new Set(["t", "y", "yes", "true", "on", "1"]);
const falsehoods = new Set(["f", "n", "no", "false", "off", "0"]);

function readBoolean(data: unknown): LeafResult {
  if (typeof data === "boolean") return read(data);
  const word = typeof data === "string" || typeof data === "number" ? String(data).trim().toLowerCase() : "";
  if (truths.has(word)) return read(true);
  if (falsehoods.has(word)) return read(false);
  return wrong("Must be a valid boolean.");
}

function readDecimal(data: unknown, leaf: LeafSchema): LeafResult {
  if (data === "" && leaf.nullable === true) return read(null);
  const { digits = 13, places = 2, shown } = leaf;
  const problem = findDecimalProblem(data, { digits, places });
  if (problem !== undefined) return wrong(decimalProblems[problem]({ digits, places }));
  const value = parseDecimal(data, { digits, places, shown });
  if (leaf.negative === false && value?.startsWith("-") === true)
    return wrong("Ensure this value is greater than or equal to 0.");
  return read(value);
}

const decimalProblems: Readonly<Record<DecimalProblem, (limits: DecimalLimits) => string>> = {
  not_a_number: () => "A valid number is required.",
  too_many_digits: ({ digits }) => `Ensure that there are no more than ${digits} digits in total.`,
  too_many_places: ({ places }) => `Ensure that there are no more than ${places} decimal places.`,
  too_many_whole_digits: ({ digits, places }) =>
    `Ensure that there are no more than ${digits - places} digits before the decimal point.`,
};

/** Reads ISO 8601 into microseconds since 1970; without an offset it is UTC. */
function readInstant(data: unknown, leaf: LeafSchema): LeafResult {
  if (data === "" && leaf.blank === true) return read(null);
  const instant = typeof data === "string" ? parseInstant(data.trim()) : undefined;
  if (instant !== undefined) return read(instant);
  return wrong("Datetime has wrong format. Use YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].");
}

function readChoice(data: unknown, leaf: LeafSchema): LeafResult {
  if (leaf.enum?.includes(data as string) === true) return read(data);
  if (data === "" && leaf.nullable === true) return read(null);
  const words = leaf.enum?.filter((word) => word !== null && word !== "").join(", ");
  return wrong(`This is not one of the valid choices: ${words}.`);
}

function readSlug(data: unknown): LeafResult {
  if (typeof data === "string" && isSlug(data)) return read(data);
  return wrong("A slug has up to 50 letters, digits, dots, dashes and underscores, and starts with a letter or digit.");
}

/** Reads a UUID in any letter case into small letters. */
function readUuid(data: unknown): LeafResult {
  const uuid = typeof data === "string" ? data.trim().toLowerCase() : "";
  return isUuid(uuid) ? read(uuid) : wrong("Must be a valid UUID.");
}

/** Reads a number, or digits in quotes, and keeps which of both it was. */
function readNumeric(data: unknown): LeafResult {
  const isNumber = typeof data === "number" || (typeof data === "string" && /^[0-9]+(?:\.[0-9]+)?$/.test(data));
  if (!isNumber) return wrong("Expected a number, or digits in quotes; a minus sign only without quotes.");
  return Number.isFinite(Number(data)) ? read(data) : wrong("This number is too large.");
}

function readAny(data: unknown): LeafResult {
  const problem = findUnkept(data);
  return problem === undefined ? read(data) : wrong(problem);
}

/** Finds what would not come back as it was sent: Postgres stores no NUL, and JSON has no word for what overflows a number. */
function findUnkept(data: unknown): string | undefined {
  if (typeof data === "number") return Number.isFinite(data) ? undefined : "This number is too large.";
  if (typeof data === "string") {
    if (data.includes("\0")) return "Null characters are not allowed.";
    return data.isWellFormed() ? undefined : "The text holds half of a character pair.";
  }
  if (typeof data !== "object" || data === null) return undefined;
  for (const part of Array.isArray(data) ? data : Object.entries(data).flat()) {
    const problem = findUnkept(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** How a leaf's value is read (spec: conventions A9). */
export type Read = "text" | "integer" | "id" | "boolean" | "decimal" | "instant" | "choice" | "slug" | "any";

export interface LeafSchema {
  readonly read: Read;
  readonly nullable?: boolean;
  readonly blank?: boolean;
  readonly trim?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly digits?: number;
  readonly places?: number;
  readonly enum?: readonly (string | null)[];
}

export type LeafOptions = Omit<LeafSchema, "read">;

export type LeafResult =
  | { readonly value: unknown; readonly problem?: never }
  | { readonly problem: string; readonly value?: never };

const wrong = (problem: string): LeafResult => ({ problem });
const read = (value: unknown): LeafResult => ({ value });

/** Reads one value, or says in a sentence what is wrong with it. */
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
  any: (data) => (holdsNul(data) ? wrong("Null characters are not allowed.") : read(data)),
};

function readText(data: unknown, leaf: LeafSchema): LeafResult {
  if (typeof data !== "string" && typeof data !== "number") return wrong("Not a valid string.");
  const text = leaf.trim === false ? String(data) : String(data).trim();
  if (text.includes("\0")) return wrong("Null characters are not allowed.");
  if (!text.isWellFormed()) return wrong("The text holds half of a character pair.");
  if (text === "" && leaf.blank === false) return wrong("This field may not be blank.");
  const { length } = [...text];
  if (leaf.minLength !== undefined && length < leaf.minLength)
    return wrong(`Ensure this field has at least ${leaf.minLength} characters.`);
  if (leaf.maxLength !== undefined && length > leaf.maxLength)
    return wrong(`Ensure this field has no more than ${leaf.maxLength} characters.`);
  return read(text);
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

/** Ids above this are refused, so that the ids we assign later stay exact numbers. */
const largestId = 2 ** 50;

function readId(data: unknown, leaf: LeafSchema): LeafResult {
  if (data === "" && leaf.nullable === true) return read(null);
  const number = typeof data === "string" && /^\d{1,16}$/.test(data.trim()) ? Number(data) : data;
  if (typeof number !== "number" || !Number.isInteger(number)) return wrong("Expected an id, a whole number.");
  if (number < 1 || number > largestId) return wrong(`Ids lie between 1 and ${largestId}.`);
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
  const text =
    typeof data === "number" && Number.isFinite(data) ? String(data) : typeof data === "string" ? data.trim() : "";
  const plain = toPlainDecimal(text);
  if (plain === undefined) return wrong("A valid number is required.");
  const places = leaf.places ?? 2;
  const digits = leaf.digits ?? 13;
  const [whole = "", fraction = ""] = plain.replace("-", "").split(".");
  const significant = fraction.replace(/0+$/, "");
  if (significant.length > places) return wrong(`Ensure that there are no more than ${places} decimal places.`);
  if (whole.replace(/^0+/, "").length + places > digits)
    return wrong(`Ensure that there are no more than ${digits} digits in total.`);
  const normal = `${whole.replace(/^0+(?=\d)/, "") || "0"}${places === 0 ? "" : `.${significant.padEnd(places, "0")}`}`;
  const negative = plain.startsWith("-") && /[1-9]/.test(normal);
  return read(negative ? `-${normal}` : normal);
}

/** Writes out an exponent; undefined when the text is no number. Bounded, so that `1e999999` costs nothing. */
function toPlainDecimal(text: string): string | undefined {
  const match = /^([+-]?)(\d{0,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > 60) return undefined;
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const padded = point < 0 ? "0".repeat(-point) + digits : digits.padEnd(point, "0");
  const at = Math.max(point, 0);
  return `${sign === "-" ? "-" : ""}${padded.slice(0, at) || "0"}.${padded.slice(at)}`;
}

const instantPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** Reads ISO 8601 into microseconds since 1970; without an offset it is UTC. */
function readInstant(data: unknown, leaf: LeafSchema): LeafResult {
  if (data === "" && leaf.nullable === true && leaf.blank === true) return read(null);
  const match = typeof data === "string" ? instantPattern.exec(data.trim()) : null;
  const instant = match === null ? undefined : toInstant(match);
  if (instant === undefined)
    return wrong("Datetime has wrong format. Use YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].");
  // Beyond, microseconds would no longer be exact numbers.
  return Number.isSafeInteger(instant) ? read(instant) : wrong("Datetimes lie between the years 1685 and 2254.");
}

function toInstant(match: RegExpExecArray): number | undefined {
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (year < 1 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const civil = new Date(Date.UTC(2000, month - 1, day, hour, minute, second));
  civil.setUTCFullYear(year, month - 1, day);
  if (civil.getUTCMonth() !== month - 1 || civil.getUTCDate() !== day) return undefined;
  const zone = (match[8] ?? "Z").toUpperCase();
  const offsetMinutes = zone === "Z" ? 0 : Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(":", "") || 0);
  if (offsetMinutes >= 24 * 60) return undefined;
  const shift = zone.startsWith("-") ? offsetMinutes : -offsetMinutes;
  return (civil.getTime() + shift * 60_000) * 1000 + Number((match[7] ?? "").padEnd(6, "0"));
}

function readChoice(data: unknown, leaf: LeafSchema): LeafResult {
  return leaf.enum?.includes(data as string) === true ? read(data) : wrong("This is not one of the valid choices.");
}

function readSlug(data: unknown, leaf: LeafSchema): LeafResult {
  if (typeof data !== "string" || !/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(data)) {
    return wrong("A slug has letters, digits, dots, dashes and underscores, and starts with a letter or digit.");
  }
  return data.length > (leaf.maxLength ?? 50)
    ? wrong(`Ensure this field has no more than ${leaf.maxLength ?? 50} characters.`)
    : read(data);
}

/** Postgres stores no NUL, in no text and in no JSON. */
function holdsNul(data: unknown): boolean {
  if (typeof data === "string") return data.includes("\0") || !data.isWellFormed();
  if (Array.isArray(data)) return data.some(holdsNul);
  if (typeof data !== "object" || data === null) return false;
  return Object.entries(data).some(([name, value]) => holdsNul(name) || holdsNul(value));
}

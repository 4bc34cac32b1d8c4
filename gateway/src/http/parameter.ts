import type { Fault } from "@tessera/kit/fault";
import { instant } from "@tessera/schema/build";
import { compileSchema, type JsonSchema } from "@tessera/schema/schema";
import { parseDecimal } from "@tessera/values";
import { fault } from "../faults.ts";

export interface Parameter<T> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** May be sent several times; otherwise the last value counts. */
  readonly repeatable: boolean;
  /** Parses the values in the order in which they were sent, without empty ones. */
  read(sent: readonly string[]): Reading<T>;
}

export type Reading<T> =
  | { readonly value: T }
  /** Reported under the parameter's name. */
  | { readonly problem: string }
  /** Thrown if no parameter has a problem. */
  | { readonly fault: Fault };

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** Reads the query of a request: unknown parameters are ignored, and all errors reported. */
export function readQuery<P extends Parameters>(parameters: P, search: URLSearchParams): Values<P> {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string[]> = {};
  let refusal: Fault | undefined;
  for (const [name, parameter] of Object.entries(parameters)) {
    const sent = search.getAll(name);
    const counting = parameter.repeatable ? sent : sent.slice(-1);
    const reading = parameter.read(counting.filter((value) => value !== ""));
    if ("value" in reading) values[name] = reading.value;
    else if ("problem" in reading) problems[name] = [reading.problem];
    else refusal ??= reading.fault;
  }
  if (Object.keys(problems).length > 0) {
    throw fault("invalid_query", "some query parameters are not valid", { fields: problems });
  }
  if (refusal !== undefined) throw refusal;
  return values as Values<P>;
}

/** A parameter of which the last value counts. Its default is `absent`. */
function single<T>(
  description: string,
  schema: JsonSchema,
  { absent, read }: { absent: T; read: (text: string) => Reading<T> },
): Parameter<T> {
  return {
    description,
    schema,
    repeatable: false,
    read: (sent) => {
      const last = sent.at(-1);
      return last === undefined ? { value: absent } : read(last);
    },
  };
}

/** A parameter of which the last value counts. Its default is undefined. */
function filter<T>(
  description: string,
  schema: JsonSchema,
  read: (text: string) => Reading<T | undefined>,
): Parameter<T | undefined> {
  return single<T | undefined>(description, schema, { absent: undefined, read });
}

/** The id of another record of the event. The service checks that it exists. */
export function idFilter(description: string): Parameter<number | undefined> {
  return filter(description, { type: "integer", format: "int64", minimum: 1 }, (text) => {
    const id = readWholeNumber(text);
    return id === undefined || id < 1 ? { problem: "This is no id of this event." } : { value: id };
  });
}

/** To compare more ids with every ticket of an event takes longer than a request should. */
const mostIds = 1000;

/** Distinct ids of other records of the event; one must match. The service checks that they exist. */
export function idListFilter(description: string): Parameter<readonly number[] | undefined> {
  return commaSeparated<readonly number[]>(`${description} At most ${mostIds}.`, (texts) => {
    const ids = texts.map(readWholeNumber).filter((id) => id !== undefined && id >= 1) as number[];
    if (ids.length !== texts.length)
      return { problem: "These are not all ids of this event: numbers with commas between them." };
    const different = [...new Set(ids)];
    return different.length > mostIds
      ? { problem: `These are ${different.length} ids: ask for at most ${mostIds} at a time.` }
      : { value: different };
  });
}

/** Distinct ids, each in a parameter of its own; at least one. */
export function idsFilter(description: string, { most }: { readonly most: number }): Parameter<readonly number[]> {
  return {
    description: `${description} At least one, and at most ${most}.`,
    schema: { type: "integer", format: "int64", minimum: 1 },
    repeatable: true,
    read(sent) {
      const ids = [...new Set(sent.map(readWholeNumber))].filter((id) => id !== undefined && id >= 1) as number[];
      if (ids.length === 0) return { problem: "At least one id is needed." };
      return ids.length > most ? { problem: `These are ${ids.length} ids: ask for at most ${most}.` } : { value: ids };
    },
  };
}

/** Words of a closed list; one must match. If all words are unknown, nothing matches. */
export function wordListFilter<W extends string>(
  description: string,
  known: readonly W[],
): Parameter<readonly W[] | undefined> {
  return commaSeparated<readonly W[]>(description, (texts) => ({
    value: known.filter((word) => texts.includes(word)),
  }));
}

/** The same, which may also be sent several times. */
export function repeated<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, repeatable: true, read: (sent) => parameter.read(sent.length === 0 ? [] : [sent.join(",")]) };
}

function commaSeparated<T>(
  description: string,
  read: (texts: readonly string[]) => Reading<T | undefined>,
): Parameter<T | undefined> {
  return filter(description, { type: "string" }, (text) => {
    const texts = text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    return texts.length === 0 ? { value: undefined } : read(texts);
  });
}

/** A whole number that is compared, not looked up. */
export function numberFilter(description: string): Parameter<number | undefined> {
  return filter(description, { type: "integer" }, (text) => {
    const number = readWholeNumber(text);
    return number === undefined ? { problem: "This is not a whole number." } : { value: number };
  });
}

export function count(description: string, { usual, most }: { usual: number; most: number }): Parameter<number> {
  const schema: JsonSchema = { type: "integer", minimum: 1, maximum: most, default: usual };
  return single(description, schema, {
    absent: usual,
    read(text) {
      const number = readWholeNumber(text);
      const isCount = number !== undefined && number >= 1 && number <= most;
      return isCount ? { value: number } : { problem: `This is not a whole number from 1 to ${most}.` };
    },
  });
}

function readWholeNumber(text: string): number | undefined {
  if (!/^\s*[+-]?\d{1,16}(\.0*)?\s*$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** More than any stored number has. */
const comparable = { digits: 40, places: 20 };

const noComparable = `This is not a number of at most ${comparable.digits} digits.`;

/** A number compared by value: `12` equals `12.000`. */
export function decimalFilter(description: string): Parameter<string | undefined> {
  return filter(description, { type: "string" }, (text) => {
    const decimal = parseDecimal(text, comparable);
    return decimal === undefined ? { problem: noComparable } : { value: decimal.replace(/\.?0+$/, "") };
  });
}

/** No count is negative, so this matches nothing. */
const noCount = -1;

/** A count compared by value. Any other number, such as a fraction, matches nothing. */
export function countFilter(description: string): Parameter<number | undefined> {
  return filter(`${description} A fraction matches nothing.`, { type: "integer" }, (text) => {
    const decimal = parseDecimal(text, comparable);
    if (decimal === undefined) return { problem: noComparable };
    const number = Number(decimal);
    return { value: Number.isSafeInteger(number) && number >= 0 ? number : noCount };
  });
}

export function textFilter(description: string): Parameter<string | undefined> {
  return filter(description, { type: "string" }, (text) => ({ value: text.trim() || undefined }));
}

const checkInstant = compileSchema(instant());

export function instantFilter(description: string): Parameter<number | undefined> {
  return filter(description, { type: "string", format: "date-time" }, (text) => {
    // A `+` in a query means a blank, and clients forget to encode it in an offset.
    const checked = checkInstant(text.trim().replace(/ (?=\d\d:?\d\d$)/, "+"));
    return checked.ok ? { value: checked.value } : { problem: "This is not a date and time in ISO 8601." };
  });
}

/** True for `true` in any letter case, else false. */
export function flag(description: string): Parameter<boolean> {
  return single(
    description,
    { type: "boolean", default: false },
    { absent: false, read: (text) => ({ value: text.toLowerCase() === "true" }) },
  );
}

const flagMeanings = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** Yes or no, in any letter case. Other values do not filter. */
export function flagFilter(description: string): Parameter<boolean | undefined> {
  const whole = `${description} \`true\`, \`1\`, \`false\` or \`0\`; anything else is no filter.`;
  return filter(whole, { type: "boolean" }, (text) => ({ value: flagMeanings.get(text.trim().toLowerCase()) }));
}

export function slugsFilter(description: string): Parameter<readonly string[] | undefined> {
  return repeated(commaSeparated<readonly string[]>(description, (texts) => ({ value: [...new Set(texts)] })));
}

/** Whole seconds; more than the most count as the most. */
export function waitFilter(description: string, most: number): Parameter<number> {
  return single(
    description,
    { type: "integer", minimum: 0, maximum: most, default: 0 },
    {
      absent: 0,
      read(text) {
        const seconds = readWholeNumber(text);
        return seconds === undefined || seconds < 0
          ? { problem: "This is not a whole number of seconds." }
          : { value: Math.min(seconds, most) };
      },
    },
  );
}

/** One word of a closed list. */
export function choiceFilter<W extends string>(description: string, known: readonly W[]): Parameter<W | undefined> {
  return filter(description, { type: "string", enum: known }, (text) => {
    const word = known.find((each) => each === text);
    return word === undefined ? { problem: "This is not one of the valid choices." } : { value: word };
  });
}

/** True unless the parameter is missing, empty or a no. */
export function presence(description: string): Parameter<boolean> {
  const no = new Set(["0", "false", "False"]);
  return single(
    description,
    { type: "boolean", default: false },
    { absent: false, read: (text) => ({ value: !no.has(text) }) },
  );
}

/** Words of a closed list. Others are ignored, because clients send words that other servers know. */
export function words<W extends string>(description: string, known: readonly W[]): Parameter<readonly W[]> {
  return {
    description,
    schema: { type: "string", ...(known.length === 0 ? {} : { enum: known }) },
    repeatable: true,
    read: (sent) => ({ value: known.filter((word) => sent.includes(word)) }),
  };
}

/** Fields to leave out; `a.b` is the field `b` of the elements of the list `a`. Unknown names are ignored. */
export function exclusion(description: string, fields: readonly string[]): Parameter<readonly string[]> {
  return {
    description,
    schema: { type: "string", enum: fields },
    repeatable: true,
    read: (sent) => ({ value: sent }),
  };
}

/** Names of fields with commas between them, sent as often as needed; `a.b` is the field `b` of `a`. Unknown names are ignored. */
export function fieldNames(description: string, usual: readonly string[]): Parameter<readonly string[]> {
  return {
    description: `${description} Default: \`${usual.join(",")}\`.`,
    schema: { type: "string" },
    repeatable: true,
    read(sent) {
      const names = sent.flatMap((text) => text.split(",")).map((name) => name.trim());
      const named = names.filter((name) => name !== "");
      return { value: named.length === 0 ? usual : named };
    },
  };
}

/** Columns to order by, each once, with a `-` for descending. Unknown columns are ignored. */
export function ordering(columns: readonly string[], byDefault: string): Parameter<readonly string[]> {
  return single<readonly string[]>(
    `Comma-separated, \`-\` in front for descending: ${columns.join(", ")}. Others are ignored. Default: ${byDefault}.`,
    { type: "string", default: byDefault },
    {
      absent: [],
      read: (text) => {
        const directions = new Map<string, string>();
        for (const wanted of text.split(",").map((part) => part.trim())) {
          const column = wanted.replace(/^-/, "");
          // A repeated column would change nothing.
          if (columns.includes(column) && !directions.has(column)) directions.set(column, wanted);
        }
        return { value: [...directions.values()] };
      },
    },
  );
}

import { type JsonSchema, toJsonSchema } from "@tessera/schema/schema";

/** Whether clients send what a schema describes, or only read it. */
export type Direction = "sent" | "answered";

/**
 * The schema as the document has it. It leaves out what generators of clients make no working code of: several types of one
 * value, words that are no name, decimals as numbers, and defaults, which some make a duty. Descriptions tell what is left out.
 */
export function shapeForClients(schema: JsonSchema, direction: Direction): JsonSchema {
  const shape = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shape);
    if (typeof value !== "object" || value === null) return value;
    const inner = mergeKinds(value as JsonSchema);
    const { properties, ...around } = inner;
    const shaped = Object.entries(around).map(
      ([name, part]) => [name, verbatim.has(name) ? part : shape(part)] as const,
    );
    const fields = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
      // What follows from other fields is not sent.
      .filter(([, field]) => direction === "answered" || field["readOnly"] !== true)
      .map(([name, field]) => [name, shape("datetime" in (properties as object) ? asText(field) : field)] as const);
    return simplify(
      {
        ...Object.fromEntries(shaped),
        ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
      },
      direction,
    );
  };
  return shape(toJsonSchema(schema)) as JsonSchema;
}

/** Keywords whose values are no schemas. */
const verbatim = new Set(["enum", "const", "default", "example", "examples", "required", "type", "discriminator"]);

function simplify(schema: JsonSchema, direction: Direction): JsonSchema {
  const { default: fallback, format, ...rest } = withOneType(schema);
  const words = rest["enum"] as readonly unknown[] | undefined;
  // Some would read a decimal as a number and lose its digits.
  const decimal = format === "decimal" ? "A decimal." : undefined;
  const usual =
    fallback === undefined || direction === "answered" ? undefined : `Default: \`${JSON.stringify(fallback)}\`.`;
  return {
    ...rest,
    ...(format === undefined || decimal !== undefined ? {} : { format }),
    ...(Number(rest["maximum"]) > largestInt32 ? { format: "int64" } : {}),
    ...(typeof rest["const"] === "string" ? { type: "string" } : {}),
    ...(isAny(rest["additionalProperties"]) ? { additionalProperties: true } : {}),
    ...(words === undefined ? {} : { enum: words.filter((word) => word !== ""), ...namesOf(words) }),
    ...describe(rest, decimal, usual),
  };
}

/** Python's type of instants has the name of a field, which hides it from all fields of its object. */
function asText(field: JsonSchema): JsonSchema {
  const { format, ...text } = field;
  return format === "date-time" ? { ...text, ...describe(field, "An instant in ISO 8601.") } : field;
}

function isAny(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && Object.keys(schema).length === 0;
}

const largestInt32 = 2 ** 31 - 1;

/** A value of several types has none in the document. */
function withOneType(schema: JsonSchema): JsonSchema {
  const types = [schema["type"] ?? []].flat() as string[];
  const several = types.filter((type) => type !== "null");
  if (several.length < 2) return schema;
  const kept = Object.entries(schema).filter(([name]) => annotations.has(name));
  return {
    ...Object.fromEntries(kept),
    ...describe(schema, `It is ${types.map((type) => called[type]).join(" or ")}.`),
  };
}

const annotations = new Set(["title", "description", "default", "examples", "readOnly"]);

const called: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a text",
};

function describe({ description }: JsonSchema, ...sentences: readonly (string | undefined)[]): JsonSchema {
  const told = typeof description === "string" ? [description] : [];
  const added = sentences.filter(
    (text) => text !== undefined && !told.join().toLowerCase().includes(text.toLowerCase()),
  );
  const all = [...told, ...added];
  return all.length === 0 ? {} : { description: all.join(" ") };
}

/** Kotlin has these names in every enumeration. */
const ofEnumerations = new Set(["declaringJavaClass", "entries", "name", "ordinal"]);

function namesOf(words: readonly unknown[]): JsonSchema {
  const texts = words.filter((word): word is string => typeof word === "string" && word !== "");
  if (!texts.some((word) => ofEnumerations.has(word))) return {};
  return { "x-enum-varnames": texts.map((word) => word.replaceAll(/\W/g, "_").toUpperCase()) };
}

/** Shows an object of several kinds as one with the fields of all, of which those are required that each kind requires. */
function mergeKinds(schema: JsonSchema): JsonSchema {
  const { discriminator, oneOf, ...around } = schema;
  const kinds = (oneOf ?? []) as readonly (JsonSchema & {
    readonly properties: Readonly<Record<string, JsonSchema>>;
  })[];
  if (discriminator === undefined || kinds.some(({ title }) => title !== undefined)) return schema;
  const { propertyName } = discriminator as { readonly propertyName: string };
  const required = kinds.map((kind) => kind["required"] as readonly string[]);
  const words = kinds.map(({ properties }) => properties[propertyName]?.["const"]);
  return {
    ...around,
    properties: {
      ...Object.assign({}, ...kinds.map(({ properties }) => properties).reverse()),
      [propertyName]: { type: "string", enum: words, description: "Its kind, which decides what else it has." },
    },
    required: required[0]?.filter((name) => required.every((names) => names.includes(name))),
  };
}

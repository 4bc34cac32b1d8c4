import type { JsonSchema } from "@tessera/schema/schema";

/** Finds in an OpenAPI document of what generators make clients that do not compile, or that cannot read answers. */
export function findHardParts(document: JsonSchema): string[] {
  return schemasIn(document, "").flatMap(([place, schema]) =>
    Object.entries(problems)
      .filter(([, hasProblem]) => hasProblem(schema, place))
      .map(([problem]) => `${place}: ${problem}`),
  );
}

const problems: Readonly<Record<string, (schema: JsonSchema, place: string) => boolean>> = {
  "null alone": ({ type }) => type === "null",
  "several types": ({ type }) => [type].flat().filter((each) => each !== "null").length > 1,
  "words that are no texts": ({ enum: words }) =>
    listOf(words).some((word) => word !== null && typeof word !== "string"),
  "an empty word": ({ enum: words }) => listOf(words).includes(""),
  "a word that Kotlin has for itself": ({ enum: words, "x-enum-varnames": names }) =>
    names === undefined && ["entries", "name", "ordinal"].some((word) => listOf(words).includes(word)),
  "a constant without a type": ({ const: value, type }) => value !== undefined && type === undefined,
  "a decimal as a number": ({ format }) => format === "decimal",
  "a large number of 32 bits": ({ maximum, format }) => Number(maximum) > 2 ** 31 - 1 && format !== "int64",
  "a field that hides a type": ({ properties = {} }) =>
    "datetime" in (properties as object) &&
    Object.values(properties as Record<string, JsonSchema>).some(({ format }) => format === "date-time"),
  "a default": ({ default: fallback }, place) => fallback !== undefined && !place.includes("/parameters/"),
  "names that clash": ({ properties = {}, required }) =>
    Object.keys(properties as object).some(
      (name) => `has_${name}` in (properties as object) && !listOf(required).includes(name),
    ),
  "a map with fields": ({ properties, additionalProperties }) =>
    properties !== undefined && typeof additionalProperties === "object",
  "kinds without a name": ({ discriminator, oneOf }) =>
    discriminator !== undefined && listOf(oneOf).some((kind) => !("$ref" in (kind as object))),
};

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Keywords whose values are no schemas. */
const literal = new Set(["default", "enum", "example", "examples", "required", "security"]);

function schemasIn(value: unknown, place: string): (readonly [string, JsonSchema])[] {
  if (typeof value !== "object" || value === null) return [];
  // The fields of an object may have the names of keywords.
  const isMap = /\/(?:properties|schemas|paths|headers)$/.test(place);
  const inside = Object.entries(value)
    .filter(([name]) => isMap || !literal.has(name))
    .flatMap(([name, part]) => schemasIn(part, `${place}/${name}`));
  return isMap ? inside : [[place, value as JsonSchema], ...inside];
}

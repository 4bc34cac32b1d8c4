import { maxImportedId, slugPattern } from "@tessera/values";
import {
  Ajv,
  type AnySchemaObject,
  type ErrorObject,
  type FuncKeywordDefinition,
  type SchemaObjCxt,
  type ValidateFunction,
} from "ajv";
import { type Container, findUnknownNames, type Part, type Problem, readElements, readValues } from "./elements.ts";
import { FieldProblems } from "./field-problems.ts";
import { checkLeaf, type LeafSchema } from "./leaf.ts";

/**
 * A schema is plain JSON Schema, so OpenAPI shows what is checked. Leaves have the additional keyword `read`, which names
 * how a value is read (rules: A9): `"3"` is an integer, `" x "` is trimmed, `"yes"` is true.
 */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema with the type of its values. Only the builders make one, so type and check cannot differ. `F`: whether it has
 * a default for a missing value.
 */
export interface Schema<out T = unknown, out F extends boolean = boolean> extends JsonSchema {
  /** For the compiler only: it does not exist at run time. */
  readonly "~type": T;
  readonly "~filled": F;
}

/** Marks numbers that the API shows as texts. */
export interface InstantSchema {
  readonly read: "instant";
}

/** The type of a schema's values; `unknown` for plain JSON Schema. */
export type TypeOf<S> = S extends Schema<infer T> ? T : unknown;

/** The named fields of an object schema. */
export type Properties = Readonly<Record<string, Schema>>;

/** The type of an object with these fields: required fields and those with a default are present. */
export type ObjectOf<P extends Properties, Required extends keyof P = never> = Flat<
  { readonly [K in PresentIn<P> | Required]: TypeOf<P[K]> } & {
    readonly [K in Exclude<keyof P, PresentIn<P> | Required>]?: TypeOf<P[K]>;
  }
>;

type PresentIn<P extends Properties> = { [K in keyof P]: P[K] extends Schema<unknown, true> ? K : never }[keyof P];

type Flat<T> = { [K in keyof T]: T[K] };

/** A schema of an object with known fields. */
export interface ObjectSchema<P extends Properties, T, F extends boolean = boolean> extends Schema<T, F> {
  readonly properties: P;
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: Record<string, string[]> };

export type Check<T> = (value: unknown) => Checked<T>;

type Validate = ReturnType<NonNullable<FuncKeywordDefinition["compile"]>>;
type Place = NonNullable<Parameters<Validate>[1]>;

const leafKeyword: FuncKeywordDefinition = {
  keyword: "leaf",
  modifying: true,
  errors: true,
  compile: (leaf: LeafSchema) => {
    const validate: Validate = (data, context) => {
      const result = checkLeaf(leaf, data);
      if (result.problem !== undefined) {
        validate.errors = [{ keyword: "leaf", message: result.problem, params: {} }];
        return false;
      }
      if (context !== undefined && result.value !== data) context.parentData[context.parentDataProperty] = result.value;
      return true;
    };
    return validate;
  },
};

/** Replaces JSON Schema's `items`, which collects the problems of all elements without a limit. */
const elementsKeyword: FuncKeywordDefinition = {
  keyword: "elements",
  type: "array",
  modifying: true,
  errors: true,
  compile({ each, most, told }: { each: AnySchemaObject; most: number | undefined; told: number }, _parent, { self }) {
    const eachAt = partReader(each, self);
    return toValidate<unknown[]>((list, place) => readElements(list, { each: eachAt(place), most, told }));
  },
};

/** Replaces a JSON Schema's `additionalProperties` that is false, for the same reason. */
const closedKeyword: FuncKeywordDefinition = {
  keyword: "closed",
  type: "object",
  errors: true,
  compile({ known, told }: { known: readonly string[]; told: number }) {
    const names = new Set(known);
    return toValidate<Container>((object) => findUnknownNames(object, { known: names, told }));
  },
};

/** Replaces JSON Schema's `additionalProperties`, `propertyNames` and `maxProperties`, for the same reason. */
const valuesKeyword: FuncKeywordDefinition = {
  keyword: "values",
  type: "object",
  modifying: true,
  errors: true,
  compile(
    {
      each,
      names,
      most,
      told,
    }: { each: AnySchemaObject; names: AnySchemaObject | undefined; most: number | undefined; told: number },
    _parent,
    { self },
  ) {
    const eachAt = partReader(each, self);
    const nameLeaf = names?.["leaf"] as LeafSchema | undefined;
    return toValidate<Container>((map, place) => readValues(map, { each: eachAt(place), names: nameLeaf, most, told }));
  },
};

/** Reads an empty value as null, before its type is looked at. */
const nothingKeyword: FuncKeywordDefinition = {
  keyword: "nothing",
  modifying: true,
  errors: true,
  compile(schema: AnySchemaObject, _parent, { self }) {
    const read = self.compile(schema);
    const validate: Validate = (data, place) => {
      if (place !== undefined && isNothing(data, schema)) {
        place.parentData[place.parentDataProperty] = null;
        return true;
      }
      const isRight = read(data, place) as boolean;
      validate.errors = read.errors ?? [];
      return isRight;
    };
    return validate;
  },
};

/** False is a boolean, and an empty text a text. */
function isNothing(data: unknown, { leaf }: AnySchemaObject): boolean {
  if (typeof data === "object" && data !== null) return Object.keys(data).length === 0;
  const { read } = (leaf ?? {}) as Partial<LeafSchema>;
  return (data === "" && read !== "text") || (data === false && read !== "boolean");
}

function toValidate<C>(findProblems: (container: C, place: Place) => readonly Problem[]): Validate {
  const validate: Validate = (container: C, place) => {
    if (place === undefined) throw new Error("a list or map was to be read without its place");
    const problems = findProblems(container, place);
    // Copied, because the validator writes the path into each.
    validate.errors = problems.map((problem) => ({ ...problem })) as Partial<ErrorObject>[];
    return problems.length === 0;
  };
  return validate;
}

function partReader(schema: AnySchemaObject, self: SchemaObjCxt["self"]) {
  const leaf = schema["leaf"] as LeafSchema | undefined;
  if (leaf !== undefined) return () => ({ leaf });
  const validate = self.compile(schema);
  return (place: Place) => ({
    readPart: ({ container, name, index }: Part) => {
      const inside = { parentData: container, parentDataProperty: name };
      const instancePath = `${place.instancePath}/${index}`;
      return validate(container[name], { ...place, ...inside, instancePath }) ? [] : (validate.errors ?? []);
    },
  });
}

/** One for all schemas: each compiles the schema of schemas first, which takes longer than most schemas. */
const ajv = new Ajv({
  strict: true,
  allErrors: true,
  useDefaults: true,
  strictRequired: false,
  strictTypes: false,
  discriminator: true,
  validateFormats: false,
});
for (const keyword of [leafKeyword, elementsKeyword, closedKeyword, valuesKeyword, nothingKeyword])
  ajv.addKeyword(keyword);

/**
 * Compiles a schema into a function that reads a value, applies defaults and names every wrong field. It may change the
 * given value.
 *
 * The keys of a map may be personal data, so errors do not contain them. Problems with values of a map, and with elements
 * of a list that have no fields, have the name of the map or list and a number. With `namesParts` that number, counted from
 * zero, is the last step of the path, and no problem is left out.
 */
export function compileSchema<S extends JsonSchema>(schema: S, { namesParts = false } = {}): Check<TypeOf<S>> {
  let validate: ValidateFunction | undefined;
  return (value) => {
    // Not before: a process would compile at its start what it never reads, and compiling all is a fifth of a start.
    validate ??= ajv.compile({
      type: "object",
      properties: { value: toExecutable(schema, namesParts ? mostFixed : mostTold) },
      required: ["value"],
    });
    // Wrapped, so that a leaf at the top can be replaced too.
    const holder = { value };
    if (validate(holder)) return { ok: true, value: holder.value as TypeOf<S> };
    return { ok: false, errors: (namesParts ? toPartErrors : toFieldErrors)(validate.errors ?? []) };
  };
}

/** People read no more problems of one list or map. */
const mostTold = 50;

/** A reader that leaves out what is wrong has to know of all of it, within a few rounds. This is one for each ticket of the largest order. */
const mostFixed = 5000;

/** Replaces every leaf, list and map with the keyword that reads it. The rest stays JSON Schema. */
function toExecutable(schema: unknown, told: number): unknown {
  const inside = (inner: unknown) => toExecutable(inner, told);
  if (Array.isArray(schema)) return schema.map(inside);
  if (typeof schema !== "object" || schema === null) return schema;
  if ("orNothing" in schema) {
    const { orNothing: _, default: fallback, ...field } = schema as JsonSchema;
    return { nothing: inside(field), ...(fallback === undefined ? {} : { default: fallback }) };
  }
  if ("read" in schema && typeof schema.read === "string") {
    const { default: fallback, ...leaf } = schema as LeafSchema & { default?: unknown };
    return { leaf, ...(fallback === undefined ? {} : { default: fallback }) };
  }
  const { items, maxItems, additionalProperties, propertyNames, maxProperties, ...around } = schema as JsonSchema;
  const entries = Object.entries(around).filter(([name]) => !annotations.has(name));
  return {
    ...Object.fromEntries(entries.map(([name, value]) => [name, rewriteKeyword(name, value, inside)])),
    ...(items === undefined ? {} : { elements: { each: inside(items), most: maxItems, told } }),
    ...(typeof additionalProperties === "object"
      ? {
          values: {
            each: inside(additionalProperties),
            names: inside(propertyNames),
            most: maxProperties,
            told,
          },
        }
      : {
          ...(additionalProperties === false
            ? { closed: { known: Object.keys(around["properties"] ?? {}), told } }
            : {}),
        }),
  };
}

/** Rewrites the schemas within one keyword. The keys of `properties` are names of fields, not keywords. */
function rewriteKeyword(name: string, value: unknown, rewrite: (schema: unknown) => unknown): unknown {
  if (literalKeywords.has(name)) return value;
  if (name !== "properties") return rewrite(value);
  return Object.fromEntries(Object.entries(value as JsonSchema).map(([field, inner]) => [field, rewrite(inner)]));
}

/** For readers, not for the validator. */
const annotations = new Set([
  "description",
  "title",
  "example",
  "examples",
  "readOnly",
  "format",
  "contentMediaType",
  "needed",
  "unread",
]);

const literalKeywords = new Set([
  "enum",
  "const",
  "default",
  "unread",
  "examples",
  "required",
  "type",
  "discriminator",
]);

/** The schema for OpenAPI 3.1: without our own keywords, and with what they mean where JSON Schema has a word for it. */
export function toJsonSchema(schema: JsonSchema): JsonSchema {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries({ ...limitsOf(value as JsonSchema), ...value }).filter(
      ([name]) => !internalKeywords.has(name),
    );
    return Object.fromEntries(entries.map(([name, inner]) => [name, rewriteKeyword(name, inner, strip)]));
  };
  return strip(schema) as JsonSchema;
}

function limitsOf({ read, blank }: JsonSchema): JsonSchema {
  if (read === "id") return { minimum: 1, maximum: maxImportedId };
  if (read === "slug") return { pattern: slugPattern.source };
  return read === "text" && blank === false ? { minLength: 1 } : {};
}

const internalKeywords = new Set([
  "read",
  "nullable",
  "blank",
  "negative",
  "trim",
  "digits",
  "places",
  "shown",
  "needed",
  "unread",
  "orNothing",
]);

function toFieldErrors(errors: readonly ErrorObject[]): Record<string, string[]> {
  const problems = new FieldProblems();
  for (const error of errors) problems.add(pathOf(error), messageOf(error));
  return problems.toErrors();
}

function toPartErrors(errors: readonly ErrorObject[]): Record<string, string[]> {
  const problems = new FieldProblems({ most: Number.POSITIVE_INFINITY });
  for (const error of errors) {
    const { part, stopped } = error.params;
    if (stopped !== true)
      problems.add(part === undefined ? pathOf(error) : `${pathOf(error)}.${part}`, messageOf(error));
  }
  return problems.toErrors();
}

function pathOf(error: ErrorObject): string {
  const steps = error.instancePath
    .split("/")
    .slice(2)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (error.keyword === "required") steps.push(String(error.params["missingProperty"]));
  if (error.keyword === "additionalProperties") steps.push(String(error.params["additionalProperty"]));
  if (error.keyword === "discriminator") steps.push(String(error.params["tag"]));
  return steps.join(".") || "non_field_errors";
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "This field is required.";
    case "discriminator":
      return params["tagValue"] === undefined ? "This field is required." : "This is not one of the valid choices.";
    case "type":
      return `Expected ${String(params["type"]).replaceAll(",", " or ")}.`;
    case "minItems":
      return `At least ${params["limit"]} needed.`;
    case "minLength":
      return `Ensure this field has at least ${params["limit"]} characters.`;
    case "maxLength":
      return `Ensure this field has no more than ${params["limit"]} characters.`;
    case "minimum":
      return `Ensure this value is greater than or equal to ${params["limit"]}.`;
    case "maximum":
      return `Ensure this value is less than or equal to ${params["limit"]}.`;
    case "pattern":
      return "Some of its characters are not allowed here.";
    case "additionalProperties":
      return "This field is not known.";
    default:
      return message ?? "This value is not valid.";
  }
}

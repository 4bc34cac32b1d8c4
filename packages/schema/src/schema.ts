import { Ajv, type AnySchemaObject, type ErrorObject, type FuncKeywordDefinition, type SchemaObjCxt } from "ajv";
import { type Container, type Part, type Problem, readElements, readValues } from "./elements.ts";
import { FieldProblems } from "./field-problems.ts";
import { checkLeaf, type LeafSchema } from "./leaf.ts";

/**
 * A schema is plain JSON Schema, so OpenAPI shows what is checked. Leaves carry
 * the extra keyword `read`, which names how a value is read (rules: A9): `"3"` is an integer, `" x "` is trimmed, `"yes"` is true.
 */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema that carries the type of what it reads. Only the builders make one, so type and check cannot differ. `F`:
 * whether a default fills in what is missing.
 */
export interface Schema<out T = unknown, out F extends boolean = boolean> extends JsonSchema {
  /** For the compiler alone: at run time there is nothing but the JSON Schema. */
  readonly "~type": T;
  readonly "~filled": F;
}

/** Marks the numbers that are written as texts where they are shown. */
export interface InstantSchema {
  readonly read: "instant";
}

/** What a schema reads; of plain JSON Schema nothing is known. */
export type TypeOf<S> = S extends Schema<infer T> ? T : unknown;

/** The named fields of an object schema. */
export type Properties = Readonly<Record<string, Schema>>;

/** What an object of these fields is: required fields and those with a default are present. */
export type ObjectOf<P extends Properties, Required extends keyof P = never> = Flat<
  { readonly [K in PresentIn<P> | Required]: TypeOf<P[K]> } & {
    readonly [K in Exclude<keyof P, PresentIn<P> | Required>]?: TypeOf<P[K]>;
  }
>;

type PresentIn<P extends Properties> = { [K in keyof P]: P[K] extends Schema<unknown, true> ? K : never }[keyof P];

type Flat<T> = { [K in keyof T]: T[K] };

/** A schema of an object, whose fields can be named. */
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
      if (typeof result === "object" && result !== null && "problem" in result) {
        validate.errors = [{ keyword: "leaf", message: result.problem, params: {} }];
        return false;
      }
      if (context !== undefined && result.value !== data) context.parentData[context.parentDataProperty] = result.value;
      return true;
    };
    return validate;
  },
};

/** In the place of JSON Schema's `items`, which gathers the problems of all elements, however many there are. */
const elementsKeyword: FuncKeywordDefinition = {
  keyword: "elements",
  type: "array",
  modifying: true,
  errors: true,
  compile({ each, most }: { each: AnySchemaObject; most: number | undefined }, _parent, { self }) {
    const eachAt = partReader(each, self);
    return toValidate<unknown[]>((list, place) => readElements(list, { each: eachAt(place), most }));
  },
};

/** In the place of JSON Schema's `additionalProperties` and what belongs to it, for the same reason. */
const valuesKeyword: FuncKeywordDefinition = {
  keyword: "values",
  type: "object",
  modifying: true,
  errors: true,
  compile(
    { each, names, most }: { each: AnySchemaObject; names: AnySchemaObject | undefined; most: number | undefined },
    _parent,
    { self },
  ) {
    const eachAt = partReader(each, self);
    const nameLeaf = names?.["leaf"] as LeafSchema | undefined;
    return toValidate<Container>((map, place) => readValues(map, { each: eachAt(place), names: nameLeaf, most }));
  },
};

function toValidate<C>(findProblems: (container: C, place: Place) => readonly Problem[]): Validate {
  const validate: Validate = (container: C, place) => {
    if (place === undefined) throw new Error("a list or map was to be read without its place");
    const problems = findProblems(container, place);
    // Copied, because the validator tells each its place.
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

/**
 * Compiles a schema into a function that reads a value, fills in defaults and names every wrong field. The value it is
 * given may be changed.
 *
 * Names that the sender chose, those of a map, are not among the names of fields: they may be personal data. Its values,
 * like elements of a list that have no fields themselves, are reported under the name of the whole, by their number.
 */
export function compileSchema<S extends JsonSchema>(schema: S): Check<TypeOf<S>> {
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    useDefaults: true,
    strictRequired: false,
    strictTypes: false,
    validateFormats: false,
  });
  for (const keyword of [leafKeyword, elementsKeyword, valuesKeyword]) ajv.addKeyword(keyword);
  const validate = ajv.compile(executable(schema) as object);
  return (value) => {
    // Wrapped, so that a leaf at the top can be replaced like any other.
    const holder = { value };
    if (validate(holder)) return { ok: true, value: holder.value as TypeOf<S> };
    return { ok: false, errors: toFieldErrors(validate.errors ?? []) };
  };

  function executable(root: JsonSchema): JsonSchema {
    return { type: "object", properties: { value: toExecutable(root) }, required: ["value"] };
  }
}

/** Replaces every leaf, list and map by the keyword that reads it; everything around stays JSON Schema. */
function toExecutable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toExecutable);
  if (typeof schema !== "object" || schema === null) return schema;
  if ("read" in schema && typeof schema.read === "string") {
    const { default: fallback, ...leaf } = schema as LeafSchema & { default?: unknown };
    return { leaf, ...(fallback === undefined ? {} : { default: fallback }) };
  }
  const { items, maxItems, additionalProperties, propertyNames, maxProperties, ...around } = schema as JsonSchema;
  const entries = Object.entries(around).filter(([name]) => !annotations.has(name));
  return {
    ...Object.fromEntries(entries.map(([name, value]) => [name, rewriteKeyword(name, value, toExecutable)])),
    ...(items === undefined ? {} : { elements: { each: toExecutable(items), most: maxItems } }),
    ...(typeof additionalProperties === "object"
      ? {
          values: {
            each: toExecutable(additionalProperties),
            names: toExecutable(propertyNames),
            most: maxProperties,
          },
        }
      : { ...(additionalProperties === undefined ? {} : { additionalProperties }) }),
  };
}

/** Rewrites the schemas below one keyword. The keys of `properties` are names of fields, whatever they are called. */
function rewriteKeyword(name: string, value: unknown, rewrite: (schema: unknown) => unknown): unknown {
  if (literalKeywords.has(name)) return value;
  if (name !== "properties") return rewrite(value);
  return Object.fromEntries(Object.entries(value as JsonSchema).map(([field, inner]) => [field, rewrite(inner)]));
}

/** Said to readers, not to the validator. */
const annotations = new Set(["description", "title", "example", "examples", "readOnly", "format", "contentMediaType"]);

const literalKeywords = new Set(["enum", "const", "default", "required", "type"]);

/** The same schema as OpenAPI 3.1 shows it: without the keyword that is ours. */
export function toJsonSchema(schema: JsonSchema): JsonSchema {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([name]) => !internalKeywords.has(name));
    return Object.fromEntries(entries.map(([name, inner]) => [name, rewriteKeyword(name, inner, strip)]));
  };
  return strip(schema) as JsonSchema;
}

const internalKeywords = new Set(["read", "nullable", "blank", "trim", "digits", "places"]);

function toFieldErrors(errors: readonly ErrorObject[]): Record<string, string[]> {
  const problems = new FieldProblems();
  for (const error of errors) problems.add(pathOf(error), messageOf(error));
  return problems.toErrors();
}

function pathOf(error: ErrorObject): string {
  const steps = error.instancePath
    .split("/")
    .slice(2)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (error.keyword === "required") steps.push(String(error.params["missingProperty"]));
  if (error.keyword === "additionalProperties") steps.push(String(error.params["additionalProperty"]));
  return steps.join(".") || "non_field_errors";
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "This field is required.";
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

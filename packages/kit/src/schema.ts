import { Ajv, type ErrorObject, type FuncKeywordDefinition } from "ajv";
import { checkLeaf, type LeafSchema } from "./schema-leaf.ts";

/**
 * A schema is plain JSON Schema, so OpenAPI shows what is checked. Leaves carry
 * the extra keyword `read`, which names how a value is read (spec: conventions
 * A9): `"3"` is an integer, `" x "` is trimmed, `"yes"` is true.
 */
export type Schema = Readonly<Record<string, unknown>>;

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: Record<string, string[]> };

export type Check<T> = (value: unknown) => Checked<T>;

const leafKeyword: FuncKeywordDefinition = {
  keyword: "leaf",
  modifying: true,
  errors: true,
  compile: (leaf: LeafSchema) => {
    const validate: ReturnType<NonNullable<FuncKeywordDefinition["compile"]>> = (data, context) => {
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

/** Compiles a schema into a function that reads a value, fills in defaults and names every wrong field. The value it is given may be changed. */
export function compileSchema<T>(schema: Schema): Check<T> {
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    useDefaults: true,
    strictRequired: false,
    strictTypes: false,
    validateFormats: false,
  });
  ajv.addKeyword(leafKeyword);
  const validate = ajv.compile(executable(schema) as object);
  return (value) => {
    // Wrapped, so that a leaf at the top can be replaced like any other.
    const holder = { value };
    if (validate(holder)) return { ok: true, value: holder.value as T };
    return { ok: false, errors: toFieldErrors(validate.errors ?? []) };
  };

  function executable(root: Schema): Schema {
    return { type: "object", properties: { value: toExecutable(root) }, required: ["value"] };
  }
}

/** Replaces every leaf by the keyword that reads it; everything around stays JSON Schema. */
function toExecutable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toExecutable);
  if (typeof schema !== "object" || schema === null) return schema;
  if ("read" in schema && typeof schema.read === "string") {
    const { default: fallback, ...leaf } = schema as LeafSchema & { default?: unknown };
    return { leaf, ...(fallback === undefined ? {} : { default: fallback }) };
  }
  const entries = Object.entries(schema).filter(([name]) => !annotations.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, rewriteKeyword(name, value, toExecutable)]));
}

/** Rewrites the schemas below one keyword. The keys of `properties` are names of fields, whatever they are called. */
function rewriteKeyword(name: string, value: unknown, rewrite: (schema: unknown) => unknown): unknown {
  if (literalKeywords.has(name)) return value;
  if (name !== "properties") return rewrite(value);
  return Object.fromEntries(Object.entries(value as Schema).map(([field, inner]) => [field, rewrite(inner)]));
}

/** Said to readers, not to the validator. */
const annotations = new Set(["description", "title", "example", "examples", "readOnly", "format", "contentMediaType"]);

const literalKeywords = new Set(["enum", "const", "default", "required", "type"]);

/** The same schema as OpenAPI 3.1 shows it: without the keyword that is ours. */
export function toJsonSchema(schema: Schema): Schema {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([name]) => !internalKeywords.has(name));
    return Object.fromEntries(entries.map(([name, inner]) => [name, rewriteKeyword(name, inner, strip)]));
  };
  return strip(schema) as Schema;
}

const internalKeywords = new Set(["read", "nullable", "blank", "trim", "digits", "places"]);

function toFieldErrors(errors: readonly ErrorObject[]): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const error of errors) {
    const path = pathOf(error);
    const messages = fields[path] ?? [];
    fields[path] = messages;
    const message = messageOf(error);
    if (!messages.includes(message)) messages.push(message);
  }
  return fields;
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

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case "required":
      return "This field is required.";
    case "type":
      return `Expected ${String(error.params["type"]).replace(",", " or ")}.`;
    case "minItems":
      return `At least ${error.params["limit"]} needed.`;
    case "maxItems":
      return `At most ${error.params["limit"]} allowed.`;
    case "maxProperties":
      return `At most ${error.params["limit"]} keys allowed.`;
    case "additionalProperties":
      return "This field is not known.";
    default:
      return error.message ?? "This value is not valid.";
  }
}

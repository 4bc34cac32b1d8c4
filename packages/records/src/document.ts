import type { JsonSchema } from "@tessera/schema/schema";
import { formatInstant, isObject } from "@tessera/values";

type Write = (value: unknown) => unknown;

export interface DocumentOptions {
  /** Fields that are kept elsewhere or nowhere; `positions.*.checkins` names those of every element. */
  readonly omit?: readonly string[];
  /** Leaves fields out that are null: for documents that there are very many of, a third of their size. */
  readonly nullIsMissing?: boolean;
  /** Arrays whose elements are kept in the order of their `position`, and of their `id` where that is the same. */
  readonly sorted?: readonly string[];
}

/**
 * Compiles a schema into the function that makes a record's document: the known fields and no others, always in the
 * schema's order, instants as the REST API shows them.
 */
export function compileDocument(
  schema: JsonSchema,
  { omit = [], nullIsMissing = false, sorted = [] }: DocumentOptions = {},
): Write {
  return writerOf(schema, { omit, nullIsMissing, sorted }) ?? ((value) => value);
}

/**
 * Compiles a schema into the function that fills in the nulls again that `nullIsMissing` has left out. Fields that the
 * schema does not know stay.
 */
export function compileCompletion(schema: JsonSchema): Write {
  const { properties, items } = schema as { readonly properties?: unknown; readonly items?: unknown };
  if (isObject(properties)) {
    const fields = Object.entries(properties).map(([name, field]) => ({
      name,
      complete: compileCompletion(field as JsonSchema),
    }));
    return (value) => {
      if (!isObject(value)) return value;
      return {
        ...value,
        ...Object.fromEntries(fields.map(({ name, complete }) => [name, complete(value[name] ?? null)])),
      };
    };
  }
  if (isObject(items)) {
    const complete = compileCompletion(items);
    return (value) => (Array.isArray(value) ? value.map(complete) : value);
  }
  return (value) => value;
}

/** Undefined for values that stay as they are: those are not copied. */
function writerOf(schema: JsonSchema, options: Required<DocumentOptions>): Write | undefined {
  if (schema["read"] === "instant") return (value) => (typeof value === "number" ? formatInstant(value) : value);
  if (isObject(schema["properties"])) return objectWriter(schema["properties"], options);
  if (isObject(schema["items"])) return arrayWriter(writerOf(schema["items"], below("*", options)));
  return undefined;
}

function objectWriter(properties: Readonly<Record<string, unknown>>, options: Required<DocumentOptions>): Write {
  const { omit, nullIsMissing } = options;
  const fields = Object.entries(properties)
    .filter(([name]) => !omit.includes(name))
    .map(([name, schema]) => ({ name, write: fieldWriter(name, schema, options) }));
  return (value) => {
    if (!isObject(value)) return value;
    const document: Record<string, unknown> = {};
    for (const { name, write } of fields) {
      const field = value[name];
      if (field === undefined || (nullIsMissing && field === null)) continue;
      document[name] = write === undefined ? field : write(field);
    }
    return document;
  };
}

function fieldWriter(name: string, schema: unknown, options: Required<DocumentOptions>): Write | undefined {
  const write = isObject(schema) ? writerOf(schema, below(name, options)) : undefined;
  if (!options.sorted.includes(name)) return write;
  return (value) => inOrder(write === undefined ? value : write(value));
}

function inOrder(value: unknown): unknown {
  const isSortable = (elements: unknown): elements is { readonly position?: number; readonly id?: number }[] =>
    Array.isArray(elements) && elements.every(isObject);
  if (!isSortable(value)) return value;
  return value.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0) || (a.id ?? 0) - (b.id ?? 0));
}

function arrayWriter(write: Write | undefined): Write | undefined {
  return write === undefined ? undefined : (value) => (Array.isArray(value) ? value.map(write) : value);
}

function below(name: string, { omit, nullIsMissing, sorted }: Required<DocumentOptions>): Required<DocumentOptions> {
  const inside = (paths: readonly string[]) =>
    paths.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
  return { omit: inside(omit), nullIsMissing, sorted: inside(sorted) };
}

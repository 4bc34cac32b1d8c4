import type { Schema } from "@tessera/kit/schema";
import { formatInstant } from "@tessera/values";

type Write = (value: unknown) => unknown;

/**
 * Compiles a schema into the function that makes a record's document: the known fields and no others, always in the
 * schema's order, instants as the REST API shows them. `omit` names fields that are kept elsewhere or nowhere,
 * `positions.*.checkins` those of every element.
 */
export function compileDocument(schema: Schema, options: { omit?: readonly string[] } = {}): Write {
  return writerOf(schema, options.omit ?? []) ?? ((value) => value);
}

/** Undefined where values stay as they are, so that nothing is copied in vain. */
function writerOf(schema: Schema, omit: readonly string[]): Write | undefined {
  if (schema["read"] === "instant") return (value) => (typeof value === "number" ? formatInstant(value) : value);
  if (isSchemas(schema["properties"])) return objectWriter(schema["properties"], omit);
  if (isSchemas(schema["items"])) return arrayWriter(writerOf(schema["items"], below("*", omit)));
  return undefined;
}

function objectWriter(properties: Readonly<Record<string, unknown>>, omit: readonly string[]): Write {
  const fields = Object.entries(properties)
    .filter(([name]) => !omit.includes(name))
    .map(([name, schema]) => ({ name, write: isSchemas(schema) ? writerOf(schema, below(name, omit)) : undefined }));
  return (value) => {
    if (!isObject(value)) return value;
    const document: Record<string, unknown> = {};
    for (const { name, write } of fields) {
      const field = value[name];
      if (field !== undefined) document[name] = write === undefined ? field : write(field);
    }
    return document;
  };
}

function arrayWriter(write: Write | undefined): Write | undefined {
  return write === undefined ? undefined : (value) => (Array.isArray(value) ? value.map(write) : value);
}

function below(name: string, omit: readonly string[]): string[] {
  return omit.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
}

function isSchemas(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import type { Schema } from "./schema.ts";
import type { LeafOptions } from "./schema-leaf.ts";

/** What any field may say besides its kind. */
interface FieldOptions extends LeafOptions {
  readonly description?: string;
  readonly default?: unknown;
  readonly readOnly?: boolean;
}

const leaf = (read: string, type: string, options: FieldOptions, extra: Schema = {}): Schema => ({
  read,
  ...extra,
  ...options,
  type: options.nullable === true ? [type, "null"] : type,
});

/** A trimmed string. */
export const text = (options: FieldOptions = {}): Schema => leaf("text", "string", options);

export const integer = (options: FieldOptions = {}): Schema => leaf("integer", "integer", options);

/** The id of a record: a whole number, also as digits. */
export const id = (options: FieldOptions = {}): Schema => leaf("id", "integer", options);

export const boolean = (options: FieldOptions = {}): Schema => leaf("boolean", "boolean", options);

/** A decimal, read from number or string and kept as a string with fixed places. */
export const decimal = (options: FieldOptions = {}): Schema =>
  leaf("decimal", "string", options, { format: "decimal" });

/** ISO 8601, kept as microseconds since 1970. */
export const instant = (options: FieldOptions = {}): Schema =>
  leaf("instant", "string", options, { format: "date-time" });

export const slug = (options: FieldOptions = {}): Schema => leaf("slug", "string", options);

/** One of a closed list of words. */
export const choice = (words: readonly string[], options: FieldOptions = {}): Schema =>
  leaf("choice", "string", { ...options, enum: options.nullable === true ? [...words, null] : words });

/** Any JSON. */
export const any = (options: FieldOptions = {}): Schema => ({ read: "any", nullable: true, ...options });

/** An object of named fields; those listed in `required` must be there. Others are ignored, unless it is closed. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  options: {
    required?: readonly string[];
    closed?: boolean;
    description?: string;
    default?: unknown;
    nullable?: boolean;
  } = {},
): Schema {
  const { required = [], closed = false, nullable = false, ...rest } = options;
  return {
    type: nullable ? ["object", "null"] : "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(closed ? { additionalProperties: false } : {}),
    ...rest,
  };
}

/** A map from names to values of one kind. */
export const mapOf = (
  values: Schema,
  options: {
    description?: string;
    default?: unknown;
    maxProperties?: number;
    /** What the names may be: a text. */
    propertyNames?: Schema;
    nullable?: boolean;
  } = {},
): Schema => {
  const { nullable = false, ...rest } = options;
  return { type: nullable ? ["object", "null"] : "object", additionalProperties: values, ...rest };
};

export const arrayOf = (
  items: Schema,
  options: { description?: string; default?: unknown; maxItems?: number; nullable?: boolean } = {},
): Schema => {
  const { nullable = false, ...rest } = options;
  return { type: nullable ? ["array", "null"] : "array", items, ...rest };
};

/** A text per language. */
export const localized = (options: { description?: string; default?: unknown; propertyNames?: Schema } = {}): Schema =>
  mapOf(text({ trim: false }), { maxProperties: 200, ...options });

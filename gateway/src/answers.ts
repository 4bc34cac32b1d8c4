import type { Schema } from "@tessera/kit/schema";
import { object, text } from "@tessera/kit/schema-build";
import type { Answer } from "./route.ts";

/** An object whose keys are all there, and no others. */
export function record(
  title: string,
  properties: Readonly<Record<string, Schema>>,
  options: { optional?: readonly string[] } = {},
): Schema {
  const required = Object.keys(properties).filter((name) => options.optional?.includes(name) !== true);
  return { title, ...object(properties, { required, closed: true }) };
}

/** One message about the whole request. */
export const detail: Schema = record("Detail", { detail: text() });

/** Messages by field, or one about the whole request. */
export const fieldErrors: Schema = {
  title: "FieldErrors",
  type: "object",
  additionalProperties: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
};

export const invalid: Answer = {
  description: "The request is not valid; every wrong field is named.",
  schema: fieldErrors,
};

export const notFound = (description: string): Answer => ({ description, schema: detail });

export const conflict: Answer = {
  description: "Another change of the same data is under way; try again after `Retry-After`.",
  schema: detail,
};

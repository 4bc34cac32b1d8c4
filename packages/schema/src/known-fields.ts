import { isObject } from "@tessera/values";
import type { JsonSchema } from "./schema.ts";

/**
 * A copy of a value without the fields that its schema does not know, of objects inside it too. Leaves, the names of maps, and objects
 * of one of several kinds stay as they are, and so do those that refuse unknown fields.
 */
export function knownFields({ read, properties, items, additionalProperties }: JsonSchema, value: unknown): unknown {
  if (read !== undefined) return value;
  if (Array.isArray(value)) {
    const elements: readonly unknown[] = value;
    return hasFields(items) ? elements.map((element) => knownFields(items, element)) : [...elements];
  }
  if (!isObject(value)) return value;
  if (isObject(properties)) {
    if (additionalProperties === false) return { ...value };
    const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name));
    return Object.fromEntries(names.map((name) => [name, knownFields(properties[name] as JsonSchema, value[name])]));
  }
  if (!hasFields(additionalProperties)) return { ...value };
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, inner]) => [name, knownFields(additionalProperties, inner)]));
}

/** Whether the parts of a list or map are more than leaves. */
function hasFields(part: unknown): part is JsonSchema {
  return isObject(part) && part["read"] === undefined;
}

import { firstIdMadeHere, isObject } from "@tessera/values";
import type { JsonSchema } from "./schema.ts";

const wholeDocument = "non_field_errors";

type Container = Record<string | number, unknown>;

/**
 * Replaces wrong fields of a document by their defaults, or by values that its schema accepts and hardly any document has. It is
 * checked once more then, for mistakes that the first check does not reach. Returns undefined where more than fields is wrong.
 */
export function replaceWrong(schema: JsonSchema, data: unknown, wrong: Iterable<string>): unknown {
  const paths = [...wrong];
  if (!isObject(data) || paths.includes(wholeDocument)) return undefined;
  const placeholders = new Placeholders();
  for (const path of paths) if (!replaceAt({ schema, value: data }, path.split("."), placeholders)) return undefined;
  return data;
}

interface At {
  readonly schema: JsonSchema;
  readonly value: unknown;
}

/** Replaces the field at these steps. False: the schema has no field there. */
function replaceAt({ schema, value }: At, [step, ...rest]: readonly string[], placeholders: Placeholders): boolean {
  if (step === undefined || typeof value !== "object" || value === null) return false;
  const container = value as Container;
  const inner = partOf(schema, step);
  if (inner === undefined) return false;
  if (rest.length > 0) return replaceAt({ schema: inner, value: container[step] }, rest, placeholders);
  if (Array.isArray(value) || isRequired(schema, step)) container[step] = placeholders.of(inner);
  else delete container[step];
  return true;
}

function partOf({ properties, items }: JsonSchema, step: string): JsonSchema | undefined {
  if (isObject(properties) && Object.hasOwn(properties, step)) return properties[step] as JsonSchema;
  return isObject(items) && /^\d+$/.test(step) ? items : undefined;
}

function isRequired({ required }: JsonSchema, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

/** Numbers and texts that differ from each other, and hardly occur in a document. */
class Placeholders {
  #made = 0;

  of(schema: JsonSchema): unknown {
    this.#made += 1;
    const { read, enum: words, type } = schema;
    if (Array.isArray(words)) return words[0];
    if (typeof read === "string") return this.#leafOf(read, schema);
    if (isObject(schema["properties"])) return this.#objectOf(schema, schema["properties"]);
    return [type].flat().includes("array") ? [] : {};
  }

  #leafOf(read: string, { maximum }: JsonSchema): unknown {
    switch (read) {
      case "id":
        return firstIdMadeHere - this.#made;
      case "integer":
        return typeof maximum === "number" ? maximum - this.#made : this.#made;
      case "boolean":
        return false;
      case "instant":
        return "2000-01-01T00:00:00Z";
      case "decimal":
      case "numeric":
        return "0";
      case "json":
        return "[]";
      default:
        return `stands-for-what-is-wrong-${this.#made}`;
    }
  }

  #objectOf({ required }: JsonSchema, properties: Readonly<Record<string, unknown>>): Container {
    const names = (required ?? []) as readonly string[];
    return Object.fromEntries(names.map((name) => [name, this.of(properties[name] as JsonSchema)]));
  }
}

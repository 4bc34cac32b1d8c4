import type { IgnoredKey } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { JsonSchema } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";

/** An object inside records of a kind. `path` is empty, or ends with a dot. */
interface SentObject {
  readonly kind: string;
  readonly path: string;
}

export type CountUnknown = (value: unknown, counts: UnknownKeys) => void;

/** The first of them show what is misspelt; there is no end to the keys of another format. */
const mostKeys = 100;

/** Longer names say nothing more, and may be as long as a record. */
const longestName = 100;

/** How often keys were sent that no schema knows. Records have dozens of them each, so no path is built for a single key. */
export class UnknownKeys {
  readonly #counts = new Map<SentObject, Map<string, { count: number }>>();
  #size = 0;

  add(object: SentObject, name: string): void {
    const names = this.#counts.get(object) ?? new Map<string, { count: number }>();
    const known = names.get(name);
    if (known !== undefined) known.count += 1;
    else if (this.#size < mostKeys) {
      this.#size += 1;
      this.#counts.set(object, names.set(name, { count: 1 }));
    }
  }

  toIgnored(): { ignored?: { keys: IgnoredKey[] } } {
    const keys = [...this.#counts].flatMap(([{ kind, path }, names]) =>
      Array.from(names, ([name, { count }]) => ({
        kind,
        key: path + name.slice(0, longestName).toWellFormed(),
        count,
      })),
    );
    return keys.length === 0 ? {} : { ignored: { keys } };
  }
}

/**
 * Compiles the schema of a kind into the function that counts keys that it does not know, in objects and in lists of
 * them. The names inside maps are the sender's own, and what may be anything has no unknown keys.
 */
export function compileUnknownKeys(kind: string, schema: JsonSchema): CountUnknown {
  return counterOf(schema, { kind, path: "" }) ?? (() => {});
}

/** Undefined where nothing can be unknown. */
function counterOf(schema: unknown, object: SentObject): CountUnknown | undefined {
  if (!isObject(schema)) return undefined;
  if (isObject(schema["properties"])) return counterOfObject(schema["properties"], object);
  const count = counterOf(schema["items"], object);
  if (count === undefined) return undefined;
  return (value, counts) => {
    if (Array.isArray(value)) for (const element of value) count(element, counts);
  };
}

function counterOfObject(properties: JsonSchema, object: SentObject): CountUnknown {
  const { kind, path } = object;
  const inside = new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      counterOf(schema, { kind, path: `${path}${name}.` }) ?? null,
    ]),
  );
  return (value, counts) => {
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
      const count = inside.get(name);
      if (count === undefined) counts.add(object, name);
      else count?.(value[name], counts);
    }
  };
}

type Json = unknown;

/**
 * Copies a document with other values at these paths, for instance `positions.*.attendee_name`, where it has something; `*`
 * is every element of a list. Parts that stay are shared with the original; a document that stays is returned as it is.
 */
export function replaceFields<T>(document: T, values: Readonly<Record<string, unknown>>): T {
  return Object.entries(values).reduce<Json>(
    (changed, [path, value]) => replace(changed, path.split("."), value),
    document,
  ) as T;
}

function replace(value: Json, [name = "", ...below]: readonly string[], by: Json): Json {
  if (Array.isArray(value)) {
    if (name !== "*") return value;
    const copies: Json[] = value.map((element) => replace(element, below, by));
    return copies.every((copy, index) => copy === value[index]) ? value : copies;
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
  const inner = (value as Readonly<Record<string, Json>>)[name];
  const copy = below.length > 0 ? replace(inner, below, by) : isEmpty(inner) ? inner : by;
  return copy === inner ? value : { ...value, [name]: copy };
}

/** Finds those of the paths where a document has something: no null, no empty text, list or map. */
export function filledFields(document: unknown, paths: readonly string[]): string[] {
  return paths.flatMap((path) => filled(document, path.split(".")).map((found) => found.join(".")));
}

function filled(value: Json, [name = "", ...below]: readonly string[]): string[][] {
  if (Array.isArray(value) && name === "*")
    return value.flatMap((element: Json, index) => filled(element, below).map((path) => [String(index), ...path]));
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  const inner = (value as Readonly<Record<string, Json>>)[name];
  if (below.length > 0) return filled(inner, below).map((path) => [name, ...path]);
  return isEmpty(inner) ? [] : [[name]];
}

function isEmpty(value: Json): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

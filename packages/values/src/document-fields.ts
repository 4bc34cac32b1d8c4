type Json = unknown;

/** What stands at a path afterwards, or what is below it. */
type Field = { readonly path: string; readonly by: Json } | { readonly below: Fields };

/** Paths in documents as a tree, with other values: made once, used for many documents. */
export type Fields = ReadonlyMap<string, Field>;

/** Makes the tree of values by their paths, for instance `positions.*.attendee_name`; `*` is every element of a list. */
export function toFields(values: Readonly<Record<string, unknown>>): Fields {
  const leaves = Object.entries(values).map(([path, by]) => ({ names: path.split("."), path, by }));
  return toTree(leaves, 0);
}

interface Leaf {
  readonly names: readonly string[];
  readonly path: string;
  readonly by: Json;
}

function toTree(leaves: readonly Leaf[], depth: number): Fields {
  const byName = Map.groupBy(leaves, ({ names }) => names[depth] ?? "");
  return new Map(
    Array.from(byName, ([name, group]): [string, Field] => {
      const last = group.find(({ names }) => names.length === depth + 1);
      return [name, last ?? { below: toTree(group, depth + 1) }];
    }),
  );
}

/**
 * Copies a document with other values at these paths, where it has something, and tells each path as often as that was so.
 * Parts that stay are shared with the original; a document that stays is returned as it is.
 */
export function replaceFields<T>(document: T, fields: Fields, onReplaced: (path: string) => void = () => {}): T {
  return replaceIn(document, fields, onReplaced) as T;
}

function replaceIn(value: Json, fields: Fields, onReplaced: (path: string) => void): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const field = fields.get("*");
    if (field === undefined) return value;
    const copies: Json[] = value.map((element: Json) => replaced(element, field, onReplaced));
    return copies.every((copy, index) => copy === value[index]) ? value : copies;
  }
  const object = value as Readonly<Record<string, Json>>;
  let copy: Record<string, Json> | undefined;
  for (const [name, field] of fields) {
    if (!Object.hasOwn(object, name)) continue;
    const inner = replaced(object[name], field, onReplaced);
    if (inner === object[name]) continue;
    copy ??= { ...object };
    copy[name] = inner;
  }
  return copy ?? value;
}

function replaced(value: Json, field: Field, onReplaced: (path: string) => void): Json {
  if ("below" in field) return replaceIn(value, field.below, onReplaced);
  if (isEmpty(value)) return value;
  onReplaced(field.path);
  return field.by;
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

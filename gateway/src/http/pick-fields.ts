import { isObject } from "@tessera/values";
import type { Shown } from "./without-fields.ts";

/** Fields by name, each with the fields of its objects; null: all of them. */
export type Fields = ReadonlyMap<string, Fields | null>;

/** The fields with these names, where `a.b` is the field `b` of the object `a`, or of each in the list `a`. */
export function fieldsOf(names: readonly string[]): Fields {
  const outer = Map.groupBy(names, (name) => name.split(".", 1)[0] ?? "");
  return new Map(
    Array.from(outer, ([field, named]) => {
      const inner = named.map((name) => name.slice(field.length + 1));
      return [field, inner.includes("") ? null : fieldsOf(inner)];
    }),
  );
}

/** Keeps these fields of an object. */
export function pickFields(shown: Shown, fields: Fields): Shown {
  const picked: Record<string, unknown> = {};
  for (const [name, inner] of fields) {
    const value = Object.hasOwn(shown, name) ? shown[name] : undefined;
    if (value !== undefined) picked[name] = inner === null ? value : pickInner(value, inner);
  }
  return picked;
}

function pickInner(value: unknown, fields: Fields): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => pickInner(each, fields));
  return isObject(value) ? pickFields(value, fields) : value;
}

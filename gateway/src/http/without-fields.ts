import { isObject } from "@tessera/values";

/** An object as the API shows it. */
export type Shown = Readonly<Record<string, unknown>>;

/** Names of fields, as a tree: a request may have hundreds of names, and an answer a hundred thousand fields. */
export type Fields = ReadonlyMap<string, Named>;

interface Named {
  /** The field itself is named. */
  readonly isWhole: boolean;
  /** Fields of its object, or of the objects in its list, are named. */
  readonly inner: Fields;
}

interface Growing {
  isWhole: boolean;
  readonly inner: Map<string, Growing>;
}

/** Reads names: `a` is a field of an object, `a.b` a field of its object `a`, or of each object in its list `a`. */
export function readFields(names: readonly string[]): Fields {
  const fields = new Map<string, Growing>();
  for (const name of names) {
    let inner = fields;
    let last: Growing | undefined;
    for (const part of name.split(".")) {
      last = inner.get(part) ?? { isWhole: false, inner: new Map() };
      inner.set(part, last);
      inner = last.inner;
    }
    if (last !== undefined) last.isWhole = true;
  }
  return fields;
}

/** Removes fields; those of an object that is not in a list stay. */
export function withoutFields(shown: Shown, excluded: Fields): Shown {
  if (excluded.size === 0) return shown;
  const kept = Object.entries(shown).flatMap(([field, value]): [string, unknown][] => {
    const named = excluded.get(field);
    if (named === undefined) return [[field, value]];
    return named.isWhole ? [] : [[field, withoutInner(value, named.inner)]];
  });
  return Object.fromEntries(kept);
}

/** Keeps fields; without any named, all of them. */
export function onlyFields(shown: Shown, included: Fields): Shown {
  if (included.size === 0) return shown;
  const kept = Object.entries(shown).flatMap(([field, value]): [string, unknown][] => {
    const named = included.get(field);
    if (named === undefined) return [];
    return [[field, named.isWhole ? value : onlyInner(value, named.inner)]];
  });
  return Object.fromEntries(kept);
}

function onlyInner(value: unknown, included: Fields): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => onlyInner(each, included));
  return isObject(value) ? onlyFields(value, included) : value;
}

function withoutInner(value: unknown, excluded: Fields): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((element: unknown) => (isObject(element) ? withoutFields(element, excluded) : element));
}

import { isObject } from "@tessera/values";

/** An object as the API shows it. */
export type Shown = Readonly<Record<string, unknown>>;

/** Removes fields: `a` is a field of the object, `a.b` a field of each object in its list `a`. */
export function withoutFields(shown: Shown, excluded: readonly string[]): Shown {
  if (excluded.length === 0) return shown;
  const kept = Object.entries(shown).filter(([field]) => !excluded.includes(field));
  return Object.fromEntries(kept.map(([field, value]) => [field, withoutInner(value, below(field, excluded))]));
}

/** Keeps fields: `a` is a field of the object, `a.b` a field of each object in its list `a`. Without any named, all of them. */
export function onlyFields(shown: Shown, included: readonly string[]): Shown {
  if (included.length === 0) return shown;
  const kept = Object.entries(shown).flatMap(([field, value]): [string, unknown][] => {
    if (included.includes(field)) return [[field, value]];
    const inner = below(field, included);
    return inner.length === 0 || !Array.isArray(value) ? [] : [[field, value.map((each) => onlyInner(each, inner))]];
  });
  return Object.fromEntries(kept);
}

function onlyInner(element: unknown, included: readonly string[]): unknown {
  return isObject(element) ? onlyFields(element, included) : element;
}

function withoutInner(value: unknown, excluded: readonly string[]): unknown {
  if (excluded.length === 0 || !Array.isArray(value)) return value;
  return value.map((element: unknown) => (isObject(element) ? withoutFields(element, excluded) : element));
}

function below(field: string, excluded: readonly string[]): string[] {
  return excluded.filter((path) => path.startsWith(`${field}.`)).map((path) => path.slice(field.length + 1));
}

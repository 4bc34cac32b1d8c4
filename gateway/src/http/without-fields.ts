import { isObject } from "@tessera/values";

/** An object as the API shows it. */
export type Shown = Readonly<Record<string, unknown>>;

/** Removes fields: `a` is a field of the object, `a.b` a field of each object in its list `a`. */
export function withoutFields(shown: Shown, excluded: readonly string[]): Shown {
  if (excluded.length === 0) return shown;
  const kept = Object.entries(shown).filter(([field]) => !excluded.includes(field));
  return Object.fromEntries(kept.map(([field, value]) => [field, withoutInner(value, below(field, excluded))]));
}

function withoutInner(value: unknown, excluded: readonly string[]): unknown {
  if (excluded.length === 0 || !Array.isArray(value)) return value;
  return value.map((element: unknown) => (isObject(element) ? withoutFields(element, excluded) : element));
}

function below(field: string, excluded: readonly string[]): string[] {
  return excluded.filter((path) => path.startsWith(`${field}.`)).map((path) => path.slice(field.length + 1));
}

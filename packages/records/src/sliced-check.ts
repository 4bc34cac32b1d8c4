import { object } from "@tessera/schema/build";
import { FieldProblems } from "@tessera/schema/field-problems";
import { type Check, type Checked, compileSchema, type JsonSchema, type Schema } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";
import type { Slices } from "./slices.ts";

/** So many elements of a list are checked in a few milliseconds, also where each has long lists. */
const elementsAtOnce = 10;

interface LongList {
  readonly name: string;
  readonly list: readonly unknown[];
  readonly check: Check<unknown>;
}

/** Compiles a schema into a check that names parts, and goes through long lists of objects in slices. */
export function compileSlicedCheck(schema: Schema): (data: unknown) => Slices<Checked<unknown>> {
  const check = compileSchema(schema, { namesParts: true });
  const lists = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, Schema>>).flatMap(
    ([name, list]) =>
      isObject(list["items"]) && isObject(list["items"]["properties"])
        ? [{ name, most: mostOf(list), check: compileSchema(object({ [name]: list }), { namesParts: true }) }]
        : [],
  );
  return function* checkInSlices(data) {
    if (!isObject(data)) return check(data);
    const long = lists.flatMap(({ name, most, check: checkList }): LongList[] => {
      const list = Object.hasOwn(data, name) ? data[name] : undefined;
      const isLong = Array.isArray(list) && list.length > elementsAtOnce && list.length <= most;
      return isLong ? [{ name, list, check: checkList }] : [];
    });
    if (long.length === 0) return check(data);
    const problems = new FieldProblems({ most: Number.POSITIVE_INFINITY });
    const beginnings = Object.fromEntries(long.map(({ name, list }) => [name, list.slice(0, elementsAtOnce)]));
    const checked = check({ ...data, ...beginnings });
    if (!checked.ok) problems.addAll(checked.errors);
    const value = checked.ok ? (checked.value as Record<string, unknown>) : undefined;
    for (const { name, list, check: checkList } of long) {
      const all = (value?.[name] ?? []) as unknown[];
      for (let at = elementsAtOnce; at < list.length; at += elementsAtOnce) {
        yield;
        const part = checkList({ [name]: list.slice(at, at + elementsAtOnce) });
        if (part.ok) for (const element of (part.value as Record<string, unknown[]>)[name] ?? []) all.push(element);
        else
          for (const [path, messages] of Object.entries(part.errors))
            for (const message of messages) problems.add(furtherOn(path, at), message);
      }
    }
    return value === undefined || !problems.isEmpty ? { ok: false, errors: problems.toErrors() } : { ok: true, value };
  };
}

function mostOf({ maxItems }: JsonSchema): number {
  return typeof maxItems === "number" ? maxItems : Number.POSITIVE_INFINITY;
}

/** The path of the element of a list so many elements after the one that a path names. */
function furtherOn(path: string, elements: number): string {
  return path.replace(/\.(\d+)/, (_, index: string) => `.${Number(index) + elements}`);
}

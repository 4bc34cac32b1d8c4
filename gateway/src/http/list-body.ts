import type { FieldErrors } from "@tessera/kit/fault";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { arrayOf } from "@tessera/schema/build";
import type { Checked } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";
import { type CheckedList, checkObject, type ListBody, type ObjectBody } from "./route.ts";

/** Twice the fields of an element, on average. */
const usualInElement = 50;

/** Declares a body that is a list of these bodies. Each may be as large as one sent alone. */
export function listBodyOf<E>(
  element: ObjectBody<E>,
  { mostElements, maxBytes }: Pick<ListBody<E>, "mostElements" | "maxBytes">,
): ListBody<readonly E[]> {
  return {
    kind: "list",
    maxBytes,
    mostElements,
    longestElement: element.maxBytes,
    mostValues: element.mostValues,
    mostInAll: mostElements * usualInElement,
    schema: { ...arrayOf(element.schema, { maxItems: mostElements }), items: element.schema },
    check: (elements) => checkElements(elements, element),
  };
}

/** Checks every element, even if others are wrong. */
async function checkElements<E>(elements: readonly unknown[], body: ObjectBody<E>): Promise<CheckedList<readonly E[]>> {
  const value: E[] = [];
  const errors: FieldErrors[] = [];
  await inSlices(elements, (element) => {
    const checked = checkElement(element, body);
    if (checked.ok) value.push(checked.value);
    errors.push(checked.ok ? {} : checked.errors);
  });
  return value.length === elements.length ? { ok: true, value } : { ok: false, errors };
}

export function checkElement<E>(element: unknown, body: ObjectBody<E>): Checked<E> {
  return isObject(element) ? checkObject(body, element) : { ok: false, errors: noObject(element) };
}

function noObject(element: unknown): Record<string, string[]> {
  return { non_field_errors: [`Invalid data. Expected a dictionary, but got ${nameKind(element)}.`] };
}

/** The name of a JSON kind, as in the messages of Django servers. */
export function nameKind(value: unknown): string {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int" : "float";
    default:
      return "dict";
  }
}

import { Fault } from "@tessera/kit/fault";
import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";
import type { BatchBody } from "../http/route.ts";
import { fieldSpans } from "./field-texts.ts";
import { parseJson } from "./parse-json.ts";
import { parseList } from "./parse-list.ts";

/** Parses an object with a long list in one field: the list in slices, the rest at once. */
export async function parseBatch(
  json: string,
  { field, head, list }: Pick<BatchBody<unknown>, "field" | "head" | "list">,
): Promise<unknown> {
  const span = fieldSpans(json, new Set([field])).get(field);
  if (span === undefined) return parseJson(json, head.mostValues);
  const { start, end } = span;
  // The list is cut out: if both parts are valid, so is the whole.
  const rest = parseJson(`${json.slice(0, start)}[]${json.slice(end)}`, head.mostValues);
  if (!isObject(rest)) return rest;
  return { ...rest, [field]: await parseElements(json.slice(start, end), { field, list }) };
}

async function parseElements(
  json: string,
  { field, list }: Pick<BatchBody<unknown>, "field" | "list">,
): Promise<readonly unknown[]> {
  try {
    return await parseList(json, list);
  } catch (error) {
    const problems = error instanceof Fault ? error.fields?.["non_field_errors"] : undefined;
    throw problems === undefined
      ? error
      : fault("invalid_body", "the list is not valid", { fields: { [field]: problems } });
  }
}

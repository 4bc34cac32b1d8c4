import { checkRules } from "@tessera/admission";
import type { ListFields } from "./list.ts";
import { reportUnknownIds } from "./report-unknown-ids.ts";

/** Messages by field; what belongs to no single field is under `non_field_errors`. */
export type ListErrors = Record<string, string[]>;

const longestName = 190;

/** Finds what is wrong with a list by itself. Rules that were not sent are not checked. */
export function checkListFields(fields: {
  readonly name: string;
  readonly rules?: string;
  readonly softLimit?: number | null;
  readonly hardLimit?: number | null;
}): ListErrors {
  const errors: ListErrors = {};
  if (fields.name.trim() === "") errors["name"] = ["This field may not be blank."];
  if ([...fields.name].length > longestName) {
    errors["name"] = [`Ensure this field has no more than ${longestName} characters.`];
  }
  const { softLimit = null, hardLimit = null } = fields;
  if (softLimit !== null && hardLimit !== null && softLimit > hardLimit) {
    errors["non_field_errors"] = ["The soft limit may not be above the hard limit."];
  }
  return fields.rules === undefined ? errors : joinErrors(errors, checkRulesText(fields.rules));
}

/** Merges the errors of two checks; contradictions are reported in the order of the checks. */
export function joinErrors(first: ListErrors, second: ListErrors): ListErrors {
  const contradictions = [...(first["non_field_errors"] ?? []), ...(second["non_field_errors"] ?? [])];
  return { ...first, ...second, ...(contradictions.length === 0 ? {} : { non_field_errors: contradictions }) };
}

export function checkRulesText(text: string): ListErrors {
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch {
    return { rules: ["Not valid JSON."] };
  }
  if (rules === null) return { rules: ["This field may not be null."] };
  const problem = checkRules(rules);
  return problem === undefined ? {} : { non_field_errors: [problem] };
}

/** Whether the JSON of rules is neither null nor empty, yet rules nothing (C4.1). */
export function rulesNothing(text: string): boolean {
  const rules: unknown = JSON.parse(text);
  if (Array.isArray(rules)) return rules.length > 0;
  return Boolean(rules) && typeof rules !== "object";
}

/** The entities of the event that lists may refer to. */
export interface KnownReferences {
  readonly series: boolean | undefined;
  readonly items: ReadonlySet<number>;
  readonly subevents: ReadonlySet<number>;
}

/** Finds the references of a list that its event does not have. */
export function checkListReferences(
  fields: Pick<ListFields, "limitProducts" | "subevent" | "takesFrom"> & { readonly id?: number },
  known: KnownReferences & { readonly lists: ReadonlySet<number> },
): ListErrors {
  const errors: ListErrors = {};
  const unknown = fields.limitProducts.filter((item) => !known.items.has(item));
  if (unknown.length > 0) errors["limit_products"] = reportUnknownIds(unknown, "item");
  const { takesFrom } = fields;
  const unknownLists = takesFrom.filter((list) => !known.lists.has(list));
  const takesFromItself = fields.id !== undefined && takesFrom.includes(fields.id);
  if (unknownLists.length > 0 || takesFromItself) {
    errors["takes_from"] = [
      ...(takesFromItself ? ["A list cannot take visitors from itself."] : []),
      ...reportUnknownIds(unknownLists, "check-in list"),
    ];
  }
  if (fields.subevent !== null && !known.subevents.has(fields.subevent)) {
    errors["subevent"] = reportUnknownIds([fields.subevent], "date");
  } else if (fields.subevent !== null && known.series !== true) {
    errors["non_field_errors"] = ["This event is not a series: a check-in list cannot belong to a date of it."];
  }
  return errors;
}

import type { ListFields } from "./list.ts";

/** Messages by field; what belongs to no single field stands under `non_field_errors`. */
export type ListErrors = Record<string, string[]>;

const longestName = 190;

/** Unknown ids; more of them say nothing new. */
const mostTold = 50;

/** Finds what is wrong with a list by itself, whatever the event knows. */
export function checkListFields(fields: Pick<ListFields, "name" | "rules">): ListErrors {
  const errors: ListErrors = {};
  if (fields.name.trim() === "") errors["name"] = ["This field may not be blank."];
  if ([...fields.name].length > longestName) {
    errors["name"] = [`Ensure this field has no more than ${longestName} characters.`];
  }
  const rules = checkRules(fields.rules);
  if (rules !== undefined) errors["rules"] = [rules];
  return errors;
}

/** Rules that nobody evaluates would admit whom they are meant to refuse. */
function checkRules(rules: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(rules);
  } catch {
    return "Not valid JSON.";
  }
  if (typeof value === "boolean") return undefined;
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return undefined;
  return "Check-in rules are not supported by this version; send {} and enforce them elsewhere.";
}

/** What the event says about the ids that a list names. */
export interface KnownReferences {
  readonly hasSubevents: boolean;
  /** Whether the event has the list's date. */
  readonly subeventKnown: boolean;
  /** Those of the list's items that the event has. */
  readonly knownItems: ReadonlySet<number>;
}

/** Finds what a list names that the event does not have. */
export function checkListReferences(
  fields: Pick<ListFields, "limitProducts" | "subevent">,
  known: KnownReferences,
): ListErrors {
  const errors: ListErrors = {};
  const unknown = fields.limitProducts.filter((item) => !known.knownItems.has(item));
  if (unknown.length > 0) {
    const told = unknown.slice(0, mostTold).map((item) => `Invalid id "${item}": this event has no such item.`);
    const untold = unknown.length - told.length;
    errors["limit_products"] = untold === 0 ? told : [...told, `and ${untold} more`];
  }
  if (fields.subevent !== null && !known.subeventKnown) {
    errors["subevent"] = [`Invalid id "${fields.subevent}": this event has no such date.`];
  } else if (fields.subevent !== null && !known.hasSubevents) {
    errors["non_field_errors"] = ["This event is not a series: a check-in list cannot belong to a date of it."];
  }
  return errors;
}

import { fault } from "../faults.ts";

/** Refuses filters by ids that do not exist here, wherever else they may exist. Throws if any is named. */
export function refuseFilters(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  throw fault("invalid_filter", "A filter names what does not exist here.", {
    fields: Object.fromEntries(unknown.map((name) => [name, ["There is nothing with this id."]])),
  });
}

import type { KnownReferences } from "./check-voucher.ts";

/** The entities that a voucher or a filter may refer to. */
export type ReferenceName = "item" | "variation" | "quota" | "subevent";

/** Finds the references that the event does not have. */
export function findUnknown(
  references: Readonly<Record<ReferenceName, number | null | undefined>>,
  { items, variations, quotas, subevents }: Omit<KnownReferences, "series">,
): readonly (readonly [name: ReferenceName, id: number])[] {
  const known = { item: items, variation: variations, quota: quotas, subevent: subevents };
  const names: readonly ReferenceName[] = ["item", "variation", "quota", "subevent"];
  return names.flatMap((name) => {
    const id = references[name];
    return id === null || id === undefined || known[name].has(id) ? [] : [[name, id] as const];
  });
}

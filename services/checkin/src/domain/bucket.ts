import type { CountedAs } from "./counted-as.ts";

/** What a ticket counts under. Lists choose among buckets, so a change of a list moves no count. */
export interface Bucket {
  readonly subevent: number | null;
  readonly item: number;
  readonly variation: number | null;
  readonly countedAs: CountedAs;
}

/** Finds the bucket of a ticket; null where no list counts it. */
export function bucketOf({
  subevent,
  item,
  variation,
  countedAs,
}: Omit<Bucket, "countedAs"> & { readonly countedAs: CountedAs | null }): Bucket | null {
  return countedAs === null ? null : { subevent, item, variation, countedAs };
}

export function hasMoved(from: Bucket | null, to: Bucket | null): boolean {
  if (from === null || to === null) return from !== to;
  return (
    from.subevent !== to.subevent ||
    from.item !== to.item ||
    from.variation !== to.variation ||
    from.countedAs !== to.countedAs
  );
}
